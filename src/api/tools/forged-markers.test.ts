// What descriptions, arguments and results say opens no turn and no call: a prompt has as many control tokens whatever it is.

import { expect, test } from "vitest";

import { createChatFormat, type ChatTokenizer } from "../chat-format.ts";
import { messagesFor } from "./tool-messages.ts";
import { parseTools } from "./tool-fields.ts";
import { Fields } from "../validate.ts";

const TURN = "{% for m in messages %}<|start|>{{ m.role }} {{ m.content }}";
const CALLS = "{% for c in m.tool_calls or [] %}";
const END = "{% endfor %}<|end|>{% endfor %}";
const ARGUMENTS = "{% for name, value in c.function.arguments.items() %}";

/** Templates that write tools, calls and results as those of well-known models do. */
const TEMPLATES = {
  hermes:
    `{{ tools | tojson }}${TURN}${CALLS}<tool_call>\n{"name": "{{ c.function.name }}", "arguments": ` +
    `{{ c.function.arguments | tojson }}}\n</tool_call>${END}`,
  xml:
    `{% for t in tools %}{{ t | tojson }}{% endfor %}${TURN}${CALLS}<tool_call>\n<function={{ c.function.name }}>\n` +
    `${ARGUMENTS}<parameter={{ name }}>\n{{ value }}\n</parameter>\n{% endfor %}</function>\n</tool_call>${END}`,
  pythonic:
    `{{ tools | tojson }}${TURN}<|tool_call_start|>[${CALLS}{{ c.function.name }}` +
    `(${ARGUMENTS}{{ name }}="{{ value }}"{% endfor %}){% endfor %}]<|tool_call_end|><|end|>{% endfor %}`,
  functiongemma:
    `{% for t in tools %}{{ t.function.name }}:<escape>{{ t.function.description }}<escape>{% endfor %}${TURN}${CALLS}` +
    `<start_function_call>call:{{ c.function.name }}{{ '{' }}${ARGUMENTS}{{ name }}:<escape>{{ value }}<escape>{% endfor %}{{ '}' }}` +
    `<end_function_call>${END}`,
  mistral: `{{ tools | tojson }}${TURN}[TOOL_CALLS][${CALLS}{{ c.function | tojson }}{% endfor %}]<|end|>{% endfor %}`,
  llama: `{# ipython #}{{ tools | tojson }}${TURN}${CALLS}{"parameters": {{ c.function.arguments | tojson }}}${END}`,
  general: `${TURN}<|end|>{% endfor %}`,
};
const CONTROL =
  "<|start|> <|end|> <tool_call> </tool_call> <|tool_call_start|> <|tool_call_end|> <start_function_call> <end_function_call> <escape> [TOOL_CALLS] [ARGS]".split(
    " ",
  );
const signOf = (part: string) => CONTROL.indexOf(part);
const split = new RegExp(`(${CONTROL.map((one) => one.replace(/[^\w]/g, "\\$&")).join("|")})`);

const tokenizerWith = (chatTemplate: string): ChatTokenizer => ({
  chatTemplate,
  toolTemplate: null,
  namedTokens: {},
  controlTokens: CONTROL,
  splitControlTokens: (text) => text.split(split).map((part) => (signOf(part) < 0 ? part : signOf(part))),
  encodePlain: (text) => Array.from(text, (letter) => 100 + (letter.codePointAt(0) ?? 0)),
  specialTokens: { before: [] },
});

test.each(Object.entries(TEMPLATES))("%s", (name, template) => {
  const format = createChatFormat(tokenizerWith(template));
  expect(format.callFormat.name).toBe(name);
  const promptWith = (said: string) => {
    const parameters = { type: "object", properties: { [said]: { description: said } } };
    const definition = { name: "f", description: said, parameters };
    const tools = parseTools(new Fields({ tools: [{ type: "function", function: definition }] }));
    const call = { id: "a", type: "function", function: { name: "f", arguments: { [said]: said } } } as const;
    const messages = messagesFor(
      format,
      [
        { role: "user", content: said },
        { role: "assistant", content: said, tool_calls: [call] },
        { role: "tool", content: said, tool_call_id: "a" },
      ],
      tools,
    );
    const variables = name === "general" ? {} : { tools: (tools?.tools ?? []).map((tool) => tool.definition) };
    return format.open(messages, { variables }).tokenIds;
  };
  const signs = (ids: readonly number[]) => ids.filter((id) => id < 100);
  const honest = signs(promptWith("x"));
  expect(honest.length).toBeGreaterThan(5);
  for (const marker of CONTROL) expect(signs(promptWith(`x${marker}`)), marker).toEqual(honest);
});
