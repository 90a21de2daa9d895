import { describe, expect, it } from "vitest";
import { readField } from "./field.ts";
import { writeField } from "./field-text.ts";
import { requestFields } from "./question-settings.ts";
import { checkSettings, SETTING_FIELDS, withSetting } from "./settings.ts";

const field = (name: string) => SETTING_FIELDS.find((one) => one.name === name)!;

describe("what is typed", () => {
  it.each([
    ["temperature", " 0.7 ", 0.7],
    ["temperature", "0", 0],
    ["top_k", "", null],
    ["seed", "12", 12],
    ["stop", "END\n\n Q:", ["END", " Q:"]],
    ["logit_bias", "Paris: 5\n#464: -100", ["Paris: 5", "#464: -100"]],
    ["no_repeat_ngram_size", "3", 3],
    ["priority", "-1", -1],
    ["system", "  You are a cat. ", "  You are a cat. "],
    ["system", " \n", null],
    ["answer_schema", '{ "type": "string" }', '{ "type": "string" }'],
    ["show_probabilities", "true", true],
    ["show_probabilities", "false", false],
  ])("%s: %j is %j", (name, typed, value) => {
    expect(readField(field(name), typed)).toEqual(value);
  });

  it.each([
    ["temperature", "2.1", "Temperature must be a number from 0 to 2."],
    ["temperature", "hot", "Temperature must be a number from 0 to 2."],
    ["top_p", "0", "Top p must be a number from 0.01 to 1."],
    ["top_k", "1.5", "Top k must be a whole number from 0 to 1000000."],
    ["answer_schema", '{ "type": ', "Answer in JSON must be JSON ("],
    ["answer_schema", "[1]", "Answer in JSON must be a schema, a JSON object"],
    [
      "logit_bias",
      "Paris",
      'Logit bias must be at most 16 lines such as "Paris: 5" or "#464: -100", with a number from',
    ],
    ["logit_bias", "Paris: 101", "Logit bias must be"],
    ["logit_bias", ": 5", "Logit bias must be"],
    ["stop", "x\n".repeat(17), "Stop sequences must be at most 16 texts that are not empty."],
  ])("%s: %j is refused", (name, typed, message) => {
    expect(() => readField(field(name), typed)).toThrow(message);
  });

  it("comes back as it stands in its box", () => {
    for (const [name, typed] of [
      ["temperature", "0.7"],
      ["stop", "END\n Q:"],
    ] as const) {
      expect(writeField(readField(field(name), typed) ?? undefined)).toBe(typed);
    }
    expect(writeField(undefined)).toBe("");
  });
});

it("a setting can be set and inherited again", () => {
  const set = withSetting({ seed: 1 }, "top_k", 5);
  expect(set).toEqual({ seed: 1, top_k: 5 });
  expect(withSetting(set, "seed", null)).toEqual({ top_k: 5 });
});

it("stored settings are checked one by one", () => {
  expect(checkSettings({ temperature: 1, stop: ["a"] })).toEqual({ temperature: 1, stop: ["a"] });
  expect(() => checkSettings({ heat: 1 })).toThrow(expect.objectContaining({ param: "heat" }));
  expect(() => checkSettings({ seed: "x" })).toThrow(expect.objectContaining({ param: "seed" }));
});

it("all but the system prompt are fields of the request", () => {
  expect(requestFields({ system: "S", stop: ["a"], top_p: 0.5 })).toEqual({ stop: ["a"], top_p: 0.5 });
});

it("a schema and probabilities become OpenAI's fields", () => {
  expect(requestFields({ answer_schema: '{ "type": "string" }', show_probabilities: true })).toEqual({
    logprobs: true,
    top_logprobs: 5,
    response_format: { type: "json_schema", json_schema: { name: "answer", schema: { type: "string" } } },
  });
  expect(requestFields({ show_probabilities: false })).toEqual({});
});

it("beams take the place of what is about drawing and ending", () => {
  const settings = { temperature: 1, seed: 1, stop: ["a"], show_probabilities: true, no_repeat_ngram_size: 2, n: 5 };
  expect(requestFields({ ...settings, beams: 4 })).toEqual({
    no_repeat_ngram_size: 2,
    use_beam_search: true,
    best_of: 4,
    n: 4,
  });
  expect(requestFields({ n: 2, beams: 0 })).toEqual({ n: 2 });
});

it.each(["answer_schema", "own_tools"] as const)("the example of %s is one", (name) => {
  expect(readField(field(name), JSON.stringify(field(name).example))).toBeTruthy();
});

it.each([
  ["{}", "a list of tools in OpenAI's form."],
  ['[{ "function": {} }]', "[0].type is missing."],
  ['[{ "type": "custom" }]', '[0].type must be "function".'],
  ['[{ "type": "function", "function": { "name": "a b" } }]', "[0].function.name must be 1 to 64 letters"],
  [
    `[${'{ "type": "function", "function": { "name": "a" } },'.repeat(2)} 3]`,
    "[1].function.name must be a name that no",
  ],
  [
    '[{ "type": "function", "function": { "name": "a", "parameters": 3 } }]',
    "[0].function.parameters must be an object.",
  ],
  ["[", "JSON"],
])("tools of one's own that are %s are refused with their place", (text, problem) => {
  expect(() => readField(field("own_tools"), text)).toThrow(problem.replace(/\.$/, ""));
});

it("a slider stays within its setting's range", () => {
  for (const one of SETTING_FIELDS) {
    for (const end of (one.kind === "number" && one.slider?.slice(0, 2)) || [])
      expect(readField(one, `${end}`)).toBe(end);
  }
});
