// What descriptions, arguments and results say opens no turn and no call: a prompt has as many control tokens whatever it is.

import { expect, test } from "vitest";

import { letterTokenizer } from "../../../tests/requests/chat-tokenizer.ts";
import { createChatFormat } from "../chat-format.ts";
import { Fields } from "../validate.ts";
import { parseTools } from "./tool-fields.ts";

const TURN = "{% for m in messages %}<|start|>{{ m.role }} {{ m.content }}";
const CALLS = "{% for c in m.tool_calls or [] %}";
const END = "{% endfor %}<|end|>{% endfor %}";
const ARGUMENTS = "{% for name, value in c.function.arguments.items() %}";
const WITHOUT_CALLS = `${TURN}<|end|>{% endfor %}`;

/** Templates that write tools, calls and results as those of well-known models do, and those that leave calls to others. */
const TEMPLATES: readonly (readonly [format: string, template: string, ...tokens: readonly string[]])[] = [
  [
    "hermes",
    `{{ tools | tojson }}${TURN}${CALLS}<tool_call>\n{"name": "{{ c.function.name }}", "arguments": ` +
      `{{ c.function.arguments | tojson }}}\n</tool_call>${END}`,
    "<tool_call>",
    "</tool_call>",
  ],
  [
    "hermes",
    `{% for t in xml_tools or [] %}{{ t | string }}{% endfor %}<tool_call>\n{"name": n, "arguments": a}${WITHOUT_CALLS}`,
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
  ],
  [
    "hermes-line",
    `{{ tools | tojson }}${TURN}${CALLS}<tool_call>{"name": "{{ c.function.name }}", "arguments": ` +
      `{{ c.function.arguments | tojson }}}</tool_call>${END}`,
    "<tool_call>",
  ],
  [
    "xml",
    `{% for t in tools %}{{ t | tojson }}{% endfor %}${TURN}${CALLS}<tool_call>\n<function={{ c.function.name }}>\n` +
      `${ARGUMENTS}<parameter={{ name }}>\n{{ value }}\n</parameter>\n{% endfor %}</function>\n</tool_call>${END}`,
    "<tool_call>",
  ],
  [
    "pythonic",
    `{{ tools | tojson }}${TURN}<|tool_call_start|>[${CALLS}{{ c.function.name }}` +
      `(${ARGUMENTS}{{ name }}="{{ value }}"{% endfor %}){% endfor %}]<|tool_call_end|><|end|>{% endfor %}`,
    "<|tool_call_start|>",
    "<|tool_call_end|>",
  ],
  ["pythonic", `{{ tools | tojson }}${WITHOUT_CALLS}`, "<|tool_call_start|>", "<|tool_call_end|>"],
  [
    "pythonic-lines",
    `{{ tools | tojson }}${TURN}<function_calls>${CALLS}{{ c.function.name }}` +
      `(${ARGUMENTS}{{ name }}={{ value | tojson }}{% endfor %}){% endfor %}</function_calls><|end|>{% endfor %}`,
    "<function_calls>",
    "</function_calls>",
  ],
  [
    "phi",
    "{% for m in messages %}<|start|>{{ m.role }} {{ m.content }}" +
      "{% if m.tools %}<|tool|>{{ m.tools }}<|/tool|>{% endif %}<|end|>{% endfor %}",
    "<|tool|>",
    "<|/tool|>",
    "<|tool_call|>",
    "<|/tool_call|>",
  ],
  ["granite", `{{ tools | tojson }} Write <|tool_call|> and a list.${WITHOUT_CALLS}`, "<|tool_call|>"],
  [
    "functiongemma",
    `{% for t in tools %}{{ t.function.name }}:<escape>{{ t.function.description }}<escape>{% endfor %}${TURN}${CALLS}` +
      `<start_function_call>call:{{ c.function.name }}{{ '{' }}${ARGUMENTS}{{ name }}:<escape>{{ value }}<escape>{% endfor %}{{ '}' }}` +
      `<end_function_call>${END}`,
    "<start_function_call>",
    "<escape>",
  ],
  [
    "mistral",
    `{{ tools | tojson }}${TURN}[TOOL_CALLS][${CALLS}{{ c.function | tojson }}{% endfor %}]<|end|>{% endfor %}`,
    "[TOOL_CALLS]",
  ],
  [
    "llama",
    `{# ipython #}{{ tools | tojson }}${TURN}${CALLS}{"parameters": {{ c.function.arguments | tojson }}}${END}`,
  ],
  ["general", WITHOUT_CALLS],
];

test.each(TEMPLATES)("%s", (name, template, ...tokens) => {
  const control = ["<|start|>", "<|end|>", ...tokens];
  const tokenizer = letterTokenizer(template, control);
  const format = createChatFormat(tokenizer);
  expect(format.tools().format.name).toBe(name);
  const promptWith = (said: string) => {
    const parameters = { type: "object", properties: { [said]: { description: said } } };
    const definition = { name: "f", description: said, parameters };
    const tools = parseTools(new Fields({ tools: [{ type: "function", function: definition }] }));
    const call = { id: "a", type: "function", function: { name: "f", arguments: { [said]: said } } } as const;
    const messages = [
      { role: "user", content: said },
      { role: "assistant", content: said, tool_calls: [call] },
      { role: "tool", content: said, tool_call_id: "a" },
    ] as const;
    return format.open(messages, { tools }).tokenIds;
  };
  const honest = tokenizer.control(promptWith("x"));
  expect(honest.length).toBeGreaterThan(5);
  for (const marker of control) expect(tokenizer.control(promptWith(`x${marker}`)), marker).toEqual(honest);
  // Noncharacters, which stand for markers elsewhere, are letters of a text like any others.
  expect(tokenizer.control(promptWith("x\ufdd0\ufdd1\ufdd2"))).toEqual(honest);
});
