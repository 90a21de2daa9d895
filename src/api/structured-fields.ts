// The fields that constrain an answer. Schemas, expressions and grammars are checked when they are compiled, in grammar/,
// which is loaded only then.

import type { GrammarSource } from "../grammar/grammar-source.ts";
import { parseJson } from "../protocol/bounded-data.ts";
import type { ChorusError } from "../protocol/errors.ts";
import type { GenerationFields, StructuredOutputs } from "../protocol/openai.ts";
import { Fields, invalidType, invalidValue, refused } from "./validate.ts";

export const STRUCTURED_FIELDS = [
  "response_format",
  "structured_outputs",
] as const satisfies readonly (keyof GenerationFields)[];

const KINDS = [
  "json",
  "json_object",
  "regex",
  "choice",
  "grammar",
] as const satisfies readonly (keyof StructuredOutputs)[];

const OPTIONS = ["whitespace_pattern", "lenient"] as const satisfies readonly (keyof StructuredOutputs)[];

const MAX_CHOICES = 1000;
/** Characters of a schema, an expression or a grammar. */
const MAX_SOURCE_LENGTH = 100_000;

/** What structured_outputs says about JSON, wherever the schema stands. */
export type JsonOptions = Pick<SchemaSource, "whitespace" | "isLenient">;
type SchemaSource = Extract<GrammarSource, { readonly kind: "schema" }>;

/** Returns null without a constraint. @throws ChorusError naming the field, and the place in a schema */
export function parseStructure(fields: Fields): GrammarSource | null {
  const format = parseResponseFormat(fields);
  const outputs = outputsOf(fields);
  const structured = parseStructuredOutputs(outputs);
  if (format !== null && structured !== null) {
    const both = "response_format and structured_outputs both constrain the answer";
    throw refused("structured_outputs", `${both}; give only one of them.`);
  }
  const source = format ?? structured;
  const options = parseJsonOptions(fields);
  if (source?.kind === "schema") return { ...source, ...options };
  if (Object.keys(options).length === 0 || (source === null && fields.says("tools"))) return source;
  const param = outputs.path(options.isLenient ? "lenient" : "whitespace_pattern");
  throw refused(param, `${param} is about JSON: give it with json, json_object, response_format or tools.`);
}

export function parseJsonOptions(fields: Fields): JsonOptions {
  const outputs = outputsOf(fields);
  const pattern = outputs.string("whitespace_pattern");
  const param = outputs.path("whitespace_pattern");
  if (pattern !== undefined && pattern.length > MAX_SOURCE_LENGTH) throw tooLong(param);
  return {
    ...(pattern !== undefined && { whitespace: { pattern, param } }),
    ...(outputs.boolean("lenient") === true && { isLenient: true }),
  };
}

const outputsOf = (fields: Fields) => new Fields(fields.get("structured_outputs") ?? {}, "structured_outputs");

/** OpenAI's. */
function parseResponseFormat(fields: Fields): GrammarSource | null {
  const value = fields.get("response_format");
  if (value === undefined) return null;
  const format = new Fields(value, "response_format");
  const type = format.needed("type", format.oneOf("type", ["text", "json_object", "json_schema"]));
  if (type !== "json_schema") {
    format.refuseOthers(["type"]);
    return type === "text" ? null : anyObject("response_format");
  }
  format.refuseOthers(["type", "json_schema"]);
  const named = new Fields(format.needed("json_schema", format.get("json_schema")), format.path("json_schema"));
  named.refuseOthers(["name", "description", "schema", "strict"]);
  named.string("name");
  named.string("description");
  named.boolean("strict");
  return parseSchema(named.needed("schema", named.get("schema")), named.path("schema"));
}

/** vLLM's: exactly one of its fields, beside options; null with options alone. */
function parseStructuredOutputs(outputs: Fields): GrammarSource | null {
  outputs.refuseOthers([...KINDS, ...OPTIONS]);
  const isAny = outputs.boolean("json_object") === false;
  const [kind, second] = KINDS.filter((name) => outputs.get(name) !== undefined && !(name === "json_object" && isAny));
  if (kind === undefined) return null;
  if (second !== undefined)
    throw refused(outputs.path(second), `structured_outputs has both ${kind} and ${second}; give only one of them.`);
  const param = outputs.path(kind);
  switch (kind) {
    case "json":
      return parseSchema(schemaOf(outputs.get(kind), param), param);
    case "json_object":
      return anyObject(param);
    case "regex":
      return { kind, pattern: parseSource(outputs, kind), param };
    case "choice":
      return { kind, choices: parseChoices(outputs), param };
    case "grammar":
      return { kind: "ebnf", ebnf: parseSource(outputs, kind), param };
  }
}

function anyObject(param: string): GrammarSource {
  return { kind: "schema", schema: { type: "object" }, param };
}

function parseSchema(schema: unknown, param: string): GrammarSource {
  if (schemaLength(schema) > MAX_SOURCE_LENGTH) throw tooLong(param);
  return { kind: "schema", schema, param };
}

/** Returns Infinity for a value that isn't JSON. */
function schemaLength(schema: unknown): number {
  try {
    return JSON.stringify(schema)?.length ?? 0;
  } catch {
    return Infinity; // it holds itself, or a BigInt
  }
}

function schemaOf(value: unknown, param: string): unknown {
  if (typeof value !== "string") return value;
  try {
    return parseJson(value);
  } catch (error) {
    const reason = (error as SyntaxError).message;
    throw refused(param, `${param} must be a JSON schema, or the text of one: ${reason}`);
  }
}

function parseSource(outputs: Fields, name: "regex" | "grammar"): string {
  const source = outputs.string(name) ?? "";
  if (source.trim() === "") throw invalidValue(outputs.path(name), "a text that is not empty", source);
  if (source.length > MAX_SOURCE_LENGTH) throw tooLong(outputs.path(name));
  return source;
}

function parseChoices(outputs: Fields): string[] {
  const param = outputs.path("choice");
  const choices = outputs.list("choice", (value, path) => {
    if (typeof value !== "string") throw invalidType(path, "a string", value);
    if (value === "" || /\p{Surrogate}/u.test(value))
      throw invalidValue(path, "a text of at least one character", value);
    return value;
  });
  if (choices === undefined || choices.length === 0) throw invalidValue(param, "at least one text", choices);
  if (choices.length > MAX_CHOICES)
    throw refused(param, `${param} has ${choices.length} texts; at most ${MAX_CHOICES} are allowed.`);
  if (choices.join("").length > MAX_SOURCE_LENGTH) throw tooLong(param);
  return choices;
}

function tooLong(param: string): ChorusError {
  return refused(param, `${param} is not valid JSON, or longer than ${MAX_SOURCE_LENGTH} characters.`);
}
