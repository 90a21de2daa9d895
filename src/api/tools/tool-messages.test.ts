import { expect, test } from "vitest";

import type { TemplateMessage } from "../template-message.ts";
import { callFormatOf } from "./call-format.ts";
import { markedFormat } from "./marked-format.ts";
import { messagesFor } from "./tool-messages.ts";

const call = (id: string, name: string, given: Readonly<Record<string, unknown>> = {}) =>
  ({ id, type: "function", function: { name, arguments: given } }) as const;
const formatOf = (template: string, takesTexts = false) => ({
  callFormat: markedFormat(callFormatOf(template), () => null),
  readsSystemPrompt: true,
  takesArgumentTexts: () => takesTexts,
});
const general = (messages: readonly TemplateMessage[], readsSystemPrompt = true) =>
  messagesFor({ ...formatOf(""), readsSystemPrompt }, messages, null);
const QUESTION = { role: "user", content: "Hi" } as const;

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
        'Let me see.\n{"tool_calls": [{"name": "f", "arguments": {"x":"\\u003c/think>"}}, {"name": "g", "arguments": {}}]}',
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
  const format = formatOf("tools [TOOL_CALLS]");
  const messages: TemplateMessage[] = [
    { role: "assistant", content: "", tool_calls: [call("call_1", "f"), call("abcdefghi", "g")] },
    { role: "tool", content: "1", tool_call_id: "call_1" },
    { role: "assistant", content: "", tool_calls: [call("000000001", "f")] },
  ];
  const [answer, result, next] = messagesFor(format, messages, null);
  expect(answer?.tool_calls?.map(({ id }) => id)).toEqual(["000000002", "abcdefghi"]);
  expect(result?.tool_call_id).toBe("000000002");
  expect(next?.tool_calls?.map(({ id }) => id)).toEqual(["000000001"]);
});

test("arguments are texts and results have names where a template wants that", () => {
  const messages: TemplateMessage[] = [
    { role: "assistant", content: "", tool_calls: [call("a", "f", { x: 1 })] },
    { role: "tool", content: "1", tool_call_id: "a" },
  ];
  for (const [takesTexts, given] of [
    [true, '{"x":1}'],
    [false, { x: 1 }],
  ] as const) {
    const [answer, result] = messagesFor(
      formatOf("tools <tool_call> <function= <parameter=", takesTexts),
      messages,
      null,
    );
    expect(answer?.tool_calls?.[0]?.function.arguments).toEqual(given);
    expect(result?.name).toBe("f");
  }
});
