// Answers drawn at random from what each format's grammar allows: whatever the draw, calls parse, and follow their schemas.

import Ajv from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";

import { seededRandom } from "../../../lab/seeded-random.ts";
import { BYTE_VOCABULARY, byteTokens, EOS } from "../../../tests/fakes/engine-harness.ts";
import { drawAnswer, grammarCompiler } from "../../../tests/requests/grammars.ts";
import { ReasoningSplitter } from "../../engine/text/reasoning-splitter.ts";
import type { ToolChoice } from "../../protocol/openai-tools.ts";
import { Fields } from "../validate.ts";
import { AnswerCalls } from "./answer-calls.ts";
import type { CallPlan } from "./call-reader.ts";
import { callFormatOf, type CallFormat } from "./call-format.ts";
import { callGrammar } from "./call-grammar.ts";
import { markedFormat } from "./marked-format.ts";
import { parseTools } from "./tool-fields.ts";

/** Templates that write calls as those of well-known models do. */
const TEMPLATES = {
  hermes: '{{ tools }} <tool_call>\n{"name": n, "arguments": a}\n</tool_call>',
  llama: '{{ tools }} {"name": n, "parameters": p} Environment: ipython',
  "hermes-line": '{{ tools }} <tool_call>{"name": n, "arguments": a}</tool_call>',
  phi: '{{ tools }} <|tool|> <|tool_call|>[{"name": n}]<|/tool_call|>',
  granite: '{{ tools }} <|tool_call|>[{"name": n}]',
  "pythonic-lines": "{{ tools }} <function_calls>n(p=1)</function_calls>",
  xml: "{{ tools }} <tool_call>\n<function=n>\n<parameter=p>\nv\n</parameter>\n</function>\n</tool_call>",
  pythonic: "{{ tools }} <|tool_call_start|>[n(p=1)]<|tool_call_end|>",
  functiongemma: "{{ tools }} <start_function_call>call:n{p:<escape>v<escape>}<end_function_call>",
  mistral: '{{ tools }} [TOOL_CALLS] [{"name": n}]',
  "mistral-args": "{{ tools }} [TOOL_CALLS]n[ARGS]{}",
  general: "{{ messages }}",
} as const;
const MARKERS = [
  "<tool_call>",
  "</tool_call>",
  "[TOOL_CALLS]",
  "[ARGS]",
  "<think>",
  "</think>",
  "<start_function_call>",
  "<end_function_call>",
  "<escape>",
  "<|tool_call_start|>",
  "<|tool_call_end|>",
  "<|tool_call|>",
  "<|/tool_call|>",
  "<function_calls>",
  "</function_calls>",
];
/** Text that no random letters would become. */
const END_OF_TEXT = "\n</parameter>\n";
const FIRST_MARKER = BYTE_VOCABULARY.length;
const vocabulary = [...BYTE_VOCABULARY, ...[...MARKERS, END_OF_TEXT].map((text) => new TextEncoder().encode(text))];
const compiler = grammarCompiler(vocabulary);

/** What ends something, and what begins a call. */
const FAVOURED = [...byteTokens('"}]<['), ...[...MARKERS, END_OF_TEXT].map((_, i) => FIRST_MARKER + i), EOS];

const weather = {
  type: "object",
  properties: { city: { type: "string", maxLength: 6 }, days: { enum: [1, 2] } },
  required: ["city"],
  additionalProperties: false,
};
/** All kinds of values, within each other. */
const note = {
  type: "object",
  properties: {
    text: { type: "string" },
    tags: { type: "array", items: { enum: ["a<b", 1, null, "\n</para"] }, maxItems: 3 },
    deep: {
      type: "object",
      properties: { on: { type: ["boolean", "null"] }, in: { type: "string", pattern: "^[;-B]{1,3}$" } },
      required: ["on"],
      additionalProperties: { type: "integer", maximum: 99, minimum: -99 },
    },
    which: { type: ["string", "number"], enum: ["5", 5, "true"] },
    way: { const: "it's <b>\\n" },
  },
  required: ["text", "way"],
  additionalProperties: false,
};
const TOOLS = [
  { type: "function", function: { name: "get_weather", description: "Says it.", parameters: weather } },
  { type: "function", function: { name: "now" } },
  { type: "function", function: { name: "note", parameters: note } },
] as const;
const SCHEMAS = new Map<string, object>([
  ["get_weather", weather],
  ["now", { type: "object", maxProperties: 0 }],
  ["note", note],
]);
const ajv = new Ajv({ allowUnionTypes: true });

const formats = Object.entries(TEMPLATES).flatMap(([name, template]) => [
  { name, isToken: true, template },
  { name, isToken: false, template },
]);
const toolsOf = (tool_choice: ToolChoice, more: object = {}) =>
  parseTools(new Fields({ tools: TOOLS, tool_choice, ...more })) ?? expect.fail("no tools");
const markedOf = (format: CallFormat, isToken: boolean) =>
  markedFormat(format, (text) => (isToken && MARKERS.includes(text) ? FIRST_MARKER + MARKERS.indexOf(text) : null));

/** Draws an answer, and reads it in pieces. */
async function answer(template: string, isToken: boolean, choice: ToolChoice, seed: number, more: object = {}) {
  const request = toolsOf(choice, more);
  const thought = seed % 2 === 1 ? "may open" : "none";
  const format = markedOf(callFormatOf(template), isToken);
  const [matcher] = await compiler.matchers(callGrammar(format, request, null, thought), [EOS], 1);
  const random = seededRandom(seed);
  const ids = await drawAnswer(matcher!, 4000, random, FAVOURED);
  const signs = new Map(format.tokens);
  if (ids === null) throw new Error("It would not end.");
  const decoder = new TextDecoder();
  const pieces = ids.map((id) => signs.get(id) ?? decoder.decode(vocabulary[id], { stream: true }));
  const splitter = new ReasoningSplitter({ state: thought, written: "" });
  const { content: text, reasoning } = splitter.push(pieces.join(""), true);
  expect(reasoning).not.toMatch(/[\ufdd0-\ufdef]/);
  const plan: CallPlan = { ...request, format, hasSchema: false };
  const whole = new AnswerCalls(plan);
  const wholeDeltas = whole.push(text, true);
  const split = new AnswerCalls(plan);
  const deltas = [];
  for (let at = 0; at < text.length;) {
    const next = Math.min(text.length, at + 1 + Math.floor(random() ** 3 * 30));
    deltas.push(...split.push(text.slice(at, next), next === text.length));
    at = next;
  }
  return { text, whole, wholeDeltas, split, deltas };
}

describe.each(formats)("$name, with markers that are tokens: $isToken", ({ name, isToken, template }) => {
  test.each<ToolChoice>(["auto", "required", { type: "function", function: { name: "now" } }])(
    "any answer under %j is calls that follow their schemas, or content",
    async (choice) => {
      expect(callFormatOf(template).name).toBe(name);
      let numCalls = 0;
      for (let seed = 0; seed < 6; seed++) {
        const { text, whole, split, deltas } = await answer(template, isToken, choice, seed);
        const { content, tool_calls: calls = [] } = whole.message();
        const { tool_calls: again = [], content: same } = split.message();
        const said = (list: typeof calls) => list.map((call) => call.function);
        expect([same, said(again)], text).toEqual([content, said(calls)]);
        expect(deltas.map((delta) => delta.content ?? "").join("")).toBe(content ?? "");
        for (const { id, type, function: called } of calls) {
          expect([type, id]).toEqual(["function", expect.stringMatching(/^(call_\w{24}|\w{9})$/)]);
          expect(ajv.validate(SCHEMAS.get(called.name) ?? false, JSON.parse(called.arguments)), text).toBe(true);
        }
        if (choice !== "auto") expect(calls.length, text).toBeGreaterThan(0);
        if (name === "llama") expect(calls.length).toBeLessThan(2);
        if (typeof choice === "object") expect(calls.map((call) => call.function.name)).toEqual(["now"]);
        const reason = typeof choice === "object" || calls.length === 0 ? "stop" : "tool_calls";
        expect(whole.finishReason("stop")).toBe(reason);
        expect(whole.finishReason("length")).toBe("length");
        numCalls += calls.length;
        if (calls.length === 0) expect(content).not.toMatch(/[\ufdd0-\ufdef]/);
      }
      if (choice !== "auto") expect(numCalls).toBeGreaterThan(5);
    },
  );

  test("an answer by a schema is whole, whatever stands in it", async () => {
    if (name === "llama") return; // refused: its calls are JSON, too
    const schema = {
      type: "object",
      properties: { a: { const: "<tool_call>\n[TOOL_CALLS]{" } },
      required: ["a"],
      additionalProperties: false,
    };
    const request = toolsOf("auto");
    const format = markedOf(callFormatOf(template), isToken);
    const source = callGrammar(format, request, { kind: "schema", schema, param: "response_format" }, "none");
    const json = '{"a": "<tool_call>\\n[TOOL_CALLS]{"}';
    const [before, after] = typeof format.content === "string" ? ["", ""] : format.content;
    const [matcher] = await compiler.matchers(source, [EOS], 1);
    for (const id of [...byteTokens(before + json + after), EOS]) {
      await matcher?.prepareMask();
      expect(matcher?.accept(id)).toBe(true);
    }
    for (const size of [1, 7, 1000]) {
      const calls = new AnswerCalls({ ...request, format, hasSchema: true });
      const text = before + json + after;
      for (let at = 0; at < text.length; at += size) calls.push(text.slice(at, at + size), at + size >= text.length);
      expect(calls.message()).toEqual({ content: json });
      expect(calls.finishReason("stop")).toBe("stop");
    }
  });

  test("content may end as calls begin", () => {
    const format = markedOf(callFormatOf(template), isToken);
    if (format.content !== "before") return;
    const text = `a <<${format.beginning}`;
    for (const size of [1, 2, text.length]) {
      const calls = new AnswerCalls({ ...toolsOf("auto"), format, hasSchema: false });
      for (let at = 0; at < text.length; at += size) calls.push(text.slice(at, at + size), at + size >= text.length);
      expect(calls.message().content).toBe("a <<");
    }
  });

  test("one call is enough where calls are not parallel", async () => {
    for (let seed = 0; seed < 4; seed++) {
      const { whole } = await answer(template, isToken, "required", seed, { parallel_tool_calls: false });
      expect(whole.message().tool_calls).toHaveLength(1);
    }
  });

  test("wherever an answer is cut, what came is said, and no call is called whole that is not", async () => {
    const { text, wholeDeltas } = await answer(template, isToken, "required", 4);
    const nameOf = (calls: AnswerCalls) =>
      calls
        .message()
        .tool_calls?.map((call) => call.function.name)
        .join() ?? "";
    for (let end = 0; end < text.length; end++) {
      const request = toolsOf("required");
      const cut = new AnswerCalls({ ...request, format: markedOf(callFormatOf(template), isToken), hasSchema: false });
      const deltas = cut.push(text.slice(0, end), true);
      expect(deltas.length).toBeLessThanOrEqual(wholeDeltas.length);
      expect(nameOf(cut)).toMatch(/^(,?(get_weather|now|note))*$/);
      const last = cut.message().tool_calls?.at(-1)?.function.arguments ?? "";
      const reason = cut.finishReason("stop");
      if (reason === "tool_calls") expect(() => void JSON.parse(last)).not.toThrow();
      else expect(reason).toBe(nameOf(cut) === "" ? "stop" : "length");
    }
  });
});
