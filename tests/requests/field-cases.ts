// Every field of the config and of both requests: what it accepts at its very borders, and what it must refuse.

import {
  ALERT_FIELDS,
  CONFIG_FIELDS,
  type AlertThresholds,
  type ConfigField,
  type EngineConfig,
} from "../../src/protocol/config.ts";
import type { ChatCompletionRequest, CompletionRequest, GenerationFields } from "../../src/protocol/openai.ts";
import { boolean, field, refusal, type FieldCase, type Refusal } from "./field-case.ts";
import { LONG_TEXT, othersThan, type Kind } from "./odd-values.ts";
import { HISTORIES, REFUSED_HISTORIES, TOOL_CASES } from "./tool-cases.ts";

type CasesOf<Body> = { readonly [Name in keyof Body]-?: FieldCase };

const DRAFT_LENGTH = "speculation.num_speculative_tokens";
const NUMBER: readonly Kind[] = ["integer", "fraction", "not finite"];
const TINY = Number.MIN_VALUE;
const BEYOND = 2 ** 53;

/** A list of token ids. */
function tokenIds(param: string, accepted: readonly unknown[], invalid: readonly unknown[]): FieldCase {
  return field(param, ["list"], accepted, invalid, [
    ...[-1, 4096, 1e300].map((value) => refusal("invalid_value", `${param}[1]`, [0, value])),
    ...othersThan(["integer"]).map((value) => refusal("invalid_type", `${param}[1]`, [0, value])),
  ]);
}

function integer(param: string, min: number, max: number): FieldCase {
  return field(param, ["integer"], [min, max], [min - 1, max + 1, -1e300, 1e300]);
}

/** A number above 0. */
function positive(param: string, max = BEYOND - 1): FieldCase {
  return field(param, NUMBER, [TINY, 0.5, max], [0, -0, -TINY, -1, max + 1, NaN, Infinity, -Infinity]);
}

function between(param: string, min: number, max: number): FieldCase {
  return field(param, NUMBER, [min, max], [min - 1e-9, max + 1e-9, -1e300, 1e300, NaN, Infinity, -Infinity]);
}

function oneOf(param: string, ...names: readonly string[]): FieldCase {
  return field(param, ["string"], names, ["", "none", `${names[0]} `, (names[0] ?? "").toUpperCase(), LONG_TEXT]);
}

/** Values that a field refuses: of other kinds, and of its own kind. */
export function refusalsOf(name: string, { kinds, refused }: FieldCase): Refusal[] {
  return [...othersThan(kinds).map((value) => refusal("invalid_type", name, value)), ...refused];
}

type Limits = Readonly<Record<string, { readonly min?: number; readonly max?: number }>>;

/** Cases of a table's fields, apart from those that have fields of their own. @param limits narrower than the table's */
function tableCases(table: Readonly<Record<string, ConfigField>>, prefix = "", limits: Limits = {}) {
  const cases = Object.entries(table).map(([name, entry]): [string, FieldCase] | [] => {
    const param = prefix + name;
    if ("choices" in entry) return [name, oneOf(param, ...entry.choices)];
    if (entry.kind === "flag") return [name, boolean(param)];
    if (!("min" in entry)) return [];
    const { kind, min, max, above } = { ...entry, ...limits[name] };
    if (kind === "integer") return [name, integer(param, min, max)];
    return [name, above ? positive(param, max) : between(param, min, max)];
  });
  return Object.fromEntries(cases.filter((one) => one.length > 0)) as Record<string, FieldCase>;
}

/** For a model with a context of 256 and blocks of 65,536 bytes, and the default budget of 256. */
const CONFIG_LIMITS = {
  maxNumSeqs: { max: 256 },
  maxModelLen: { max: 256 },
  kvCacheBytes: { min: 65_536 },
  longPrefillTokenThreshold: { max: 256 },
};
export const CONFIG_CASES = {
  ...tableCases(CONFIG_FIELDS, "", CONFIG_LIMITS),
  speculation: field(
    "speculation",
    ["object"],
    [
      { method: "ngram" },
      { method: "ngram", num_speculative_tokens: 16, minMatch: 8 },
      { method: "ngram", num_speculative_tokens: 1, minMatch: 1 },
      { method: "draft_model", model: "owner/small" },
      { method: "draft_model", model: "models/small/", num_speculative_tokens: 16 },
      { method: "draft_model", model: "models/small/", num_speculative_tokens: 1 },
    ],
    [],
    [
      refusal("missing_required_parameter", "speculation.method", { num_speculative_tokens: 4 }),
      refusal("invalid_value", "speculation.method", { method: "eagle" }),
      refusal("invalid_value", DRAFT_LENGTH, { method: "ngram", num_speculative_tokens: 17 }),
      refusal("invalid_value", "speculation.minMatch", { method: "ngram", minMatch: 0 }),
      refusal("unknown_parameter", "speculation.tokens", { method: "ngram", tokens: 4 }),
      refusal("missing_required_parameter", "speculation.model", { method: "draft_model" }),
      refusal("unknown_parameter", "speculation.minMatch", { method: "draft_model", model: "a/b", minMatch: 1 }),
      refusal("invalid_value", DRAFT_LENGTH, { method: "draft_model", model: "a/b", num_speculative_tokens: 0 }),
    ],
  ),
  alerts: field(
    "alerts",
    ["object"],
    [{}, { itlMs: null }],
    [],
    [refusal("unknown_parameter", "alerts.occupancy", { lowOccupancy: 0.5, occupancy: 0.5 })],
  ),
} as CasesOf<EngineConfig>;

export const ALERT_CASES = tableCases(ALERT_FIELDS, "alerts.") as CasesOf<AlertThresholds>;

/** Longer than a schema, an expression or a grammar may be. */
const TOO_LONG = "x".repeat(100_001);
const jsonSchema = (schema: unknown, others: object = {}) => ({
  type: "json_schema",
  json_schema: { schema, name: "answer", ...others },
});

/** For the embedded model, whose vocabulary is 4096 and whose context 256. */
const GENERATION_CASES: CasesOf<GenerationFields> = {
  model: field(
    "model",
    ["string"],
    ["chorus-chat"],
    [],
    ["", "gpt-4", "CHORUS-FIRST", LONG_TEXT].map((value) => refusal("model_not_found", "model", value)),
  ),
  temperature: between("temperature", 0, 2),
  top_p: field("top_p", NUMBER, [TINY, 1], [0, -0, -0.1, 1 + 1e-9, 1e300, NaN, Infinity]),
  top_k: field("top_k", ["integer"], [-1, 0, 1e300], [-2, -1e300]),
  min_p: between("min_p", 0, 1),
  typical_p: field("typical_p", NUMBER, [TINY, 1], [0, -0, -0.1, 1 + 1e-9, 1e300, NaN, Infinity]),
  repetition_penalty: positive("repetition_penalty", 100),
  presence_penalty: between("presence_penalty", -2, 2),
  frequency_penalty: between("frequency_penalty", -2, 2),
  no_repeat_ngram_size: integer("no_repeat_ngram_size", 0, 256),
  logit_bias: field(
    "logit_bias",
    ["object"],
    [{}, { 0: 100, 4095: -100 }, { 7: null }],
    [{ x: 1 }, { "-1": 1 }, { "1.5": 1 }, { "": 1 }, { [LONG_TEXT]: 1 }],
    [
      refusal("invalid_value", "logit_bias.4096", { 4096: 1 }),
      ...[-101, 101, NaN, Infinity].map((bias) => refusal("invalid_value", "logit_bias.7", { 7: bias })),
      ...othersThan(NUMBER).map((bias) => refusal("invalid_type", "logit_bias.7", { 7: bias })),
      refusal("invalid_value", "logit_bias", Object.fromEntries(Array.from({ length: 1025 }, (_, id) => [id, 1]))),
    ],
  ),
  bad_words: field(
    "bad_words",
    ["list"],
    [[], ["x"], ["two words"]],
    [Array.from({ length: 1025 }, (_, i) => `word ${i}`)],
    [
      ...["", " ", LONG_TEXT].map((word) => refusal("invalid_value", "bad_words[1]", ["x", word])),
      ...othersThan(["string"]).map((value) => refusal("invalid_type", "bad_words[1]", ["x", value])),
    ],
  ),
  min_tokens: field("min_tokens", ["integer"], [0, 1], [-1, -1e300, 257, 1e300]),
  allowed_token_ids: tokenIds("allowed_token_ids", [[0, 4095]], [[]]),
  response_format: field(
    "response_format",
    ["object"],
    [{ type: "text" }, { type: "json_object" }, jsonSchema({ type: "integer" }), jsonSchema(true)],
    [],
    [
      refusal("missing_required_parameter", "response_format.type", {}),
      refusal("invalid_value", "response_format.type", { type: "json" }),
      refusal("unknown_parameter", "response_format.schema", { type: "text", schema: {} }),
      refusal("unknown_parameter", "response_format.json_schemas", { type: "json_schema", json_schemas: {} }),
      refusal("missing_required_parameter", "response_format.json_schema", { type: "json_schema" }),
      refusal("missing_required_parameter", "response_format.json_schema.schema", jsonSchema(null)),
      refusal("unknown_parameter", "response_format.json_schema.shema", jsonSchema({}, { shema: 1 })),
      refusal("invalid_type", "response_format.json_schema.strict", jsonSchema({}, { strict: "yes" })),
      refusal("invalid_value", "response_format.json_schema.schema", jsonSchema({ title: TOO_LONG })),
    ],
  ),
  structured_outputs: field(
    "structured_outputs",
    ["object"],
    [
      {},
      { json_object: false },
      { json_object: true },
      { json: { type: "null" } },
      { json: '{"type": "null"}' },
      { regex: "a|b", json: null },
      { choice: ["yes", "no"] },
      { grammar: 'root ::= "a"' },
      { json: {}, whitespace_pattern: "any" },
      { json: {}, lenient: true },
    ],
    [],
    [
      refusal("unknown_parameter", "structured_outputs.regexp", { regexp: "a" }),
      refusal("invalid_value", "structured_outputs.choice", { regex: "a", choice: ["a"] }),
      refusal("invalid_value", "structured_outputs.json", { json: "{" }),
      refusal("invalid_type", "structured_outputs.json_object", { json_object: 1 }),
      ...["", TOO_LONG].map((regex) => refusal("invalid_value", "structured_outputs.regex", { regex })),
      refusal("invalid_type", "structured_outputs.regex", { regex: 7 }),
      refusal("invalid_value", "structured_outputs.choice", { choice: [] }),
      refusal("invalid_value", "structured_outputs.choice", { choice: Array.from({ length: 1001 }, () => "x") }),
      refusal("invalid_value", "structured_outputs.choice[1]", { choice: ["x", ""] }),
      refusal("invalid_type", "structured_outputs.choice[1]", { choice: ["x", 7] }),
      ...["", TOO_LONG].map((grammar) => refusal("invalid_value", "structured_outputs.grammar", { grammar })),
      refusal("invalid_type", "structured_outputs.grammar", { grammar: 7 }),
      refusal("invalid_type", "structured_outputs.whitespace_pattern", { json: {}, whitespace_pattern: 7 }),
      refusal("invalid_value", "structured_outputs.whitespace_pattern", { regex: "a", whitespace_pattern: "any" }),
      refusal("invalid_type", "structured_outputs.lenient", { json: {}, lenient: "yes" }),
    ],
  ),
  n: integer("n", 1, 128),
  use_beam_search: boolean("use_beam_search"),
  // Fields that need beam search are in beam-fields.test.ts.
  best_of: field("best_of", ["integer"], [1], [0, 2, 20, 21, 1e300]),
  length_penalty: field("length_penalty", NUMBER, [1], [-11, 0.5, 11, NaN, Infinity, -1e300]),
  early_stopping: field("early_stopping", ["boolean", "string"], [false], [true, "never", "", "always"]),
  seed: field("seed", ["integer"], [1 - BEYOND, BEYOND - 1], [-BEYOND, BEYOND, 1e300]),
  stop: field(
    "stop",
    ["string", "list"],
    ["x", [], ["x"], Array.from({ length: 16 }, (_, i) => `${i}`)],
    ["", Array.from({ length: 17 }, (_, i) => `${i}`), Array.from({ length: 100_000 }, () => "")],
    [
      refusal("invalid_value", "stop[1]", ["x", ""]),
      ...othersThan(["string"]).map((value) => refusal("invalid_type", "stop[1]", ["x", value])),
    ],
  ),
  stop_token_ids: tokenIds("stop_token_ids", [[], [0, 4095]], []),
  include_stop_str_in_output: boolean("include_stop_str_in_output"),
  ignore_eos: boolean("ignore_eos"),
  stream: boolean("stream"),
  stream_options: field(
    "stream_options",
    ["object"],
    [{}, { include_usage: true }, { include_obfuscation: false }],
    [],
    [
      ...othersThan(["boolean"]).map((value) =>
        refusal("invalid_type", "stream_options.include_usage", { include_usage: value }),
      ),
      refusal("unknown_parameter", "stream_options.usage", { usage: true }),
      refusal("unsupported_parameter", "stream_options.continuous_usage_stats", { continuous_usage_stats: true }),
      refusal("unsupported_parameter", "stream_options.include_obfuscation", { include_obfuscation: true }),
    ],
  ),
  prompt_logprobs: integer("prompt_logprobs", 0, 20),
  return_token_ids: boolean("return_token_ids"),
  return_tokens_as_token_ids: boolean("return_tokens_as_token_ids"),
  include_metrics: boolean("include_metrics"),
  priority: integer("priority", -(2 ** 31), 2 ** 31 - 1),
  request_id: field("request_id", ["string"], ["r", "r".repeat(1024)], ["", "r".repeat(1025), LONG_TEXT]),
  cache_salt: field("cache_salt", ["string"], ["s", "s".repeat(1024)], ["", "s".repeat(1025), LONG_TEXT]),
  deadline_ms: positive("deadline_ms", 2 ** 31 - 1),
  user: field("user", ["string"], ["", "somebody"]),
  metadata: field("metadata", ["object"], [{}, { topic: "demo" }]),
  store: boolean("store"),
};

const user = (content: unknown) => [
  { role: "system", content: "" },
  { role: "user", content },
];
const message = (...changes: readonly object[]) => [
  { role: "user", content: "Hi" },
  Object.assign({ role: "user", content: "Hi" }, ...changes),
];

/** The most that is left of the context after "Hi" in either request is less than 256. */
const maxTokens = (name: string, blamed: string) =>
  field(
    name,
    ["integer"],
    [1],
    [0, -1, -1e300],
    [256, 1e300].map((value) => refusal("context_length_exceeded", blamed, value)),
  );

export const CHAT_CASES: CasesOf<ChatCompletionRequest> = {
  ...GENERATION_CASES,
  messages: field(
    "messages",
    ["list"],
    [
      [{ role: "assistant", content: "" }],
      user([{ type: "text", text: "Hi" }]),
      message({ name: "Ann", tool_calls: [] }),
      ...HISTORIES,
    ],
    [[]],
    [
      refusal("context_length_exceeded", "messages", user(LONG_TEXT)),
      ...othersThan(["object"]).map((value) => refusal("invalid_type", "messages[1]", [...message().slice(1), value])),
      ...othersThan(["string"]).map((role) => refusal("invalid_type", "messages[1].role", message({ role }))),
      ...othersThan(["string"]).map((name) => refusal("invalid_type", "messages[1].name", message({ name }))),
      ...othersThan(["string", "list"]).map((value) => refusal("invalid_type", "messages[1].content", user(value))),
      ...othersThan(["object"]).map((part) => refusal("invalid_type", "messages[1].content[0]", user([part]))),
      ...["", "tools", "User", LONG_TEXT].map((role) =>
        refusal("invalid_value", "messages[1].role", message({ role })),
      ),
      refusal("missing_required_parameter", "messages[1].role", message({ role: null })),
      refusal("missing_required_parameter", "messages[1].content", user(undefined)),
      refusal("missing_required_parameter", "messages[1].content[0].type", user([{ text: "Hi" }])),
      refusal("missing_required_parameter", "messages[1].content[0].text", user([{ type: "text" }])),
      refusal("invalid_type", "messages[1].content[0].text", user([{ type: "text", text: 7 }])),
      refusal("unsupported_parameter", "messages[1].content[0].type", user([{ type: "image_url" }])),
      refusal("unknown_parameter", "messages[1].content[0].texts", user([{ type: "text", text: "", texts: "" }])),
      ...REFUSED_HISTORIES,
      refusal("unknown_parameter", "messages[1].tools", message({ tools: [] })),
    ],
  ),
  ...TOOL_CASES,
  max_tokens: maxTokens("max_tokens", "messages"),
  max_completion_tokens: maxTokens("max_completion_tokens", "messages"),
  chat_template_kwargs: field(
    "chat_template_kwargs",
    ["object"],
    [{}, { enable_thinking: false }, { tools: [{ type: "function", function: { name: "f" } }], x: null }],
    [{ x: 1n }],
    ["messages", "add_generation_prompt", "bos_token"].map((name) =>
      refusal("invalid_value", `chat_template_kwargs.${name}`, { [name]: [] }),
    ),
  ),
  enable_in_reasoning: boolean("enable_in_reasoning"),
  continue_final_message: field(
    "continue_final_message",
    ["boolean"],
    [false],
    [],
    [refusal("invalid_value", "continue_final_message", true)],
  ),
  // Token ids are for those who continue a message.
  final_message_token_ids: tokenIds("final_message_token_ids", [], [[], [7]]),
  logprobs: boolean("logprobs"),
  // 1 to 20 are for those who ask for logprobs.
  top_logprobs: field("top_logprobs", ["integer"], [0], [-1, 1, 20, 21, 1e300]),
};

export const COMPLETION_CASES: CasesOf<CompletionRequest> = {
  ...GENERATION_CASES,
  prompt: field(
    "prompt",
    ["string", "list"],
    ["Hi", ["Hi", "you"], [0, 4095], [[0], [4095]]],
    ["", [], Array.from({ length: 4097 }, () => "x")],
    [
      refusal("context_length_exceeded", "prompt", LONG_TEXT),
      refusal(
        "context_length_exceeded",
        "prompt",
        Array.from({ length: 256 }, () => 1),
      ),
      refusal("context_length_exceeded", "prompt[1]", ["Hi", LONG_TEXT]),
      refusal("invalid_value", "prompt[1]", ["Hi", ""]),
      refusal("invalid_value", "prompt[1]", [[1], []]),
      ...[-1, 4096, 1e300].map((id) => refusal("invalid_value", "prompt[1]", [1, id])),
      ...[-1, 4096, 1e300].map((id) => refusal("invalid_value", "prompt[0][1]", [[1, id]])),
      ...othersThan(["integer"]).map((value) => refusal("invalid_type", "prompt[1]", [1, value])),
      ...othersThan(["integer"]).map((value) => refusal("invalid_type", "prompt[0][1]", [[1, value]])),
      ...othersThan(["string"]).map((value) => refusal("invalid_type", "prompt[1]", ["Hi", value])),
      ...othersThan(["list"]).map((value) => refusal("invalid_type", "prompt[1]", [[1], value])),
      ...othersThan(["string", "list", "integer", "fraction", "not finite"]).map((value) =>
        refusal("invalid_type", "prompt[0]", [value]),
      ),
    ],
  ),
  max_tokens: maxTokens("max_tokens", "prompt"),
  logprobs: integer("logprobs", 0, 20),
  echo: boolean("echo"),
  add_special_tokens: boolean("add_special_tokens"),
  parse_special_tokens: boolean("parse_special_tokens"),
};
