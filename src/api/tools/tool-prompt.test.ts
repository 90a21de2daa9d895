import { expect, test } from "vitest";

import { letterTokenizer } from "../../../tests/requests/chat-tokenizer.ts";
import { createChatFormat } from "../chat-format.ts";
import type { TemplateMessage } from "../template-message.ts";
import { Fields } from "../validate.ts";
import { parseTools } from "./tool-fields.ts";
import { NO_TEMPLATE_TOOLS, templateTools } from "./template-tools.ts";
import { toolPrompt } from "./tool-prompt.ts";

const call = (id: string, name: string, given: Readonly<Record<string, unknown>> = {}) =>
  ({ id, type: "function", function: { name, arguments: given } }) as const;
const general = (messages: readonly TemplateMessage[]) => toolPrompt(NO_TEMPLATE_TOOLS, messages, null, true).messages;
const QUESTION = { role: "user", content: "Hi" } as const;
const ANSWER = "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}";

test("in the general form calls and results are texts, and roles take turns", () => {
  const written = general([
    QUESTION,
    { role: "assistant", content: "Let me see.", tool_calls: [call("a", "f", { x: "</think>" }), call("b", "g")] },
    { role: "tool", content: "1\nResult of g: 9", tool_call_id: "a" },
    { role: "tool", content: "2", tool_call_id: "b" },
    { role: "user", content: "And now?" },
    { role: "assistant", content: "Done." },
  ]);
  expect(written).toEqual([
    QUESTION,
    {
      role: "assistant",
      content:
        'Let me see.\n{"tool_calls": [{"name": "f", "arguments": {"x": "\\u003c/think>"}}, {"name": "g", "arguments": {}}]}',
    },
    { role: "user", content: 'Result of f: "1\\nResult of g: 9"\nResult of g: "2"\nAnd now?' },
    { role: "assistant", content: "Done." },
  ]);
});

test("results are named by the calls before them, though ids come again", () => {
  const answer = (name: string) => ({ role: "assistant", content: "", tool_calls: [call("", name)] }) as const;
  const result = { role: "tool", content: "1", tool_call_id: "" } as const;
  const written = general([QUESTION, answer("a"), result, answer("b"), result]);
  expect(written.map(({ content }) => content.split(":")[0])).toEqual([
    "Hi",
    '{"tool_calls"',
    "Result of a",
    '{"tool_calls"',
    "Result of b",
  ]);
});

test("ids have the length that a template takes", () => {
  const calls = "{% for c in m.tool_calls or [] %}({{ c.id }}{{ c.function.arguments | tojson }}){% endfor %}";
  const template = `{# [TOOL_CALLS] #}{{ tools | tojson }}${ANSWER}${calls}{{ m.tool_call_id }}{% endfor %}`;
  const messages: TemplateMessage[] = [
    { role: "assistant", content: "", tool_calls: [call("call_1", "f"), call("abcdefghi", "g")] },
    { role: "tool", content: "1", tool_call_id: "call_1" },
    { role: "assistant", content: "", tool_calls: [call("000000001", "f")] },
  ];
  const tokenizer = letterTokenizer(template, ["<s>"]);
  expect(tokenizer.textOf(createChatFormat(tokenizer).open(messages).tokenIds)).toBe(
    "null<|assistant|>(000000001{})(000000002{})<|tool|>1000000001<|assistant|>(000000003{})",
  );
});

function promptOf(template: string, tokens: readonly string[], hasTools = true) {
  const tokenizer = letterTokenizer(template, tokens);
  const parameters = { type: "object", properties: { on: { type: "boolean" } } };
  const tools = parseTools(
    new Fields({ tools: [{ type: "function", function: { name: "f", description: "Says.", parameters } }] }),
  );
  const messages: TemplateMessage[] = [
    QUESTION,
    {
      role: "assistant",
      content: "Well.",
      tool_calls: [call("a", "f", { on: true, of: { x: null } }), call("b", "f", { s: 'a"b' })],
    },
    { role: "tool", content: "7", tool_call_id: "a" },
    { role: "tool", content: "8", tool_call_id: "b" },
  ];
  const format = createChatFormat(tokenizer);
  const { tokenIds } = format.open(messages, hasTools ? { tools } : {});
  return { name: format.tools().format.name, text: tokenizer.textOf(tokenIds), control: tokenizer.control(tokenIds) };
}

const DEFINITION =
  '{"name": "f", "description": "Says.", "parameters": {"type": "object", "properties": {"on": {"type": "boolean"}}}}';

test("a template without markers has calls as the vocabulary's markers say, and results in its role", () => {
  const tokens = ["<|tool_call_start|>", "<|tool_call_end|>"];
  const template = `List of tools: {{ tools | tojson }}\n${ANSWER}{% endfor %}`;
  const { name, text, control } = promptOf(template, tokens);
  expect(name).toBe("pythonic");
  expect(text).toBe(
    `List of tools: [{"type": "function", "function": ${DEFINITION}}]\n` +
      '<|user|>Hi<|assistant|>Well.\n<|tool_call_start|>[f(on=True, of={"x": None}), f(s="a\\"b")]<|tool_call_end|>' +
      "<|tool|>7<|tool|>8",
  );
  expect(control).toEqual(tokens);
});

test("functions go where a template has them: in a variable of another name", () => {
  const template =
    `{% if xml_tools %}{% for t in xml_tools %}{{ t | string }}\n{% endfor %}` +
    `<tool_call>\\n{\\"name\\": n, \\"arguments\\": a}\\n</tool_call>{% endif %}${ANSWER}{% endfor %}`;
  const tokens = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"];
  const { name, text, control } = promptOf(template, tokens);
  expect(name).toBe("hermes");
  expect(text).toContain("{'type': 'function', 'function': {'name': 'f', 'description': 'Says.', ");
  expect(text).toContain(
    '<|assistant|>Well.\n<tool_call>\n{"name": "f", "arguments": {"on": true, "of": {"x": null}}}\n</tool_call>\n' +
      '<tool_call>\n{"name": "f", "arguments": {"s": "a\\"b"}}\n</tool_call>' +
      "<|tool|><tool_response>\n7\n</tool_response><|tool|><tool_response>\n8\n</tool_response>",
  );
  expect(control.slice(0, 4)).toEqual(["<tool_call>", "</tool_call>", "<tool_call>", "</tool_call>"]);
  expect(promptOf(template, tokens, false).text).not.toContain("function");
});

test("functions go where a template has them: in the system's message, which it may lack", () => {
  const template = `{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% if m.tools %}<|tool|>{{ m.tools }}<|/tool|>{% endif %}<|end|>{% endfor %}`;
  const tokens = ["<|system|>", "<|user|>", "<|assistant|>", "<|end|>", "<|tool|>", "<|/tool|>"];
  const calls = ["<|tool_call|>", "<|/tool_call|>", "<|tool_response|>"];
  const { name, text, control } = promptOf(template, [...tokens, ...calls]);
  expect(name).toBe("phi");
  expect(text).toBe(
    `<|system|><|tool|>[${DEFINITION}]<|/tool|><|end|><|user|>Hi<|end|>` +
      '<|assistant|>Well.\n<|tool_call|>[{"name": "f", "arguments": {"on": true, "of": {"x": null}}}, ' +
      '{"name": "f", "arguments": {"s": "a\\"b"}}]<|/tool_call|><|end|>' +
      "<|tool_response|>7<|end|><|tool_response|>8<|end|>",
  );
  expect(control.filter((token) => calls.includes(token))).toEqual([...calls, "<|tool_response|>"]);
});

test("a template that shows no functions gets the general form, whatever else it knows", () => {
  const template = `{# tools #}<tool_call>{"arguments": 1}${ANSWER}{% endfor %}`;
  const { name, text } = promptOf(template, ["<tool_call>"]);
  expect(name).toBe("general");
  expect(text).toContain("You can call these functions:");
});

test("arguments are texts where a template adds them to other text", () => {
  const ways = (value: string) => {
    const template = `{{ tools | tojson }}${ANSWER}{% for c in m.tool_calls or [] %}{{ ${value} }}{% endfor %}{% endfor %}`;
    return createChatFormat(letterTokenizer(template, ["<s>"])).tools().calls;
  };
  expect(ways("'{' + c.function.arguments + '}'")).toBe("JSON");
  expect(ways("c.function.arguments | tojson")).toBe("objects");
  expect(ways("c.function.arguments.items() | list | tojson")).toBe("objects");
  expect(ways("c.function.arguments if c.function.arguments is string else c.function.arguments | tojson")).toBe(
    "objects",
  );
  expect(ways("c.function.name")).toBe("text");
  expect(
    templateTools(
      "",
      () => null,
      () => "",
    ),
  ).toBe(NO_TEMPLATE_TOOLS);
});
