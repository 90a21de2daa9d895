import { OBJECT } from "../protocol/json-object.ts";
import type { GenerationFields } from "../protocol/openai.ts";
import { BEAM_FIELDS, parseBeamSearch } from "./beam-fields.ts";
import { MAX_TOP_LOGPROBS } from "../engine/sampling/sampling-params.ts";
import type { ParsedRequest, RequestContext, RequestedParams } from "./parsed-request.ts";
import { parseFilters, parseRules, RULE_FIELDS } from "./rule-fields.ts";
import { checkModel, parseTokenIds } from "./shared-fields.ts";
import { parseStructure, STRUCTURED_FIELDS } from "./structured-fields.ts";
import { Fields, invalidType, invalidValue, refused, unsupported } from "./validate.ts";
import { refuseUnsupported, UNSUPPORTED_FIELDS } from "./unsupported-fields.ts";

export const GENERATION_FIELDS = [
  "model",
  "temperature",
  ...RULE_FIELDS,
  "n",
  ...BEAM_FIELDS,
  ...STRUCTURED_FIELDS,
  "seed",
  "stop",
  "stop_token_ids",
  "include_stop_str_in_output",
  "ignore_eos",
  "prompt_logprobs",
  "stream",
  "stream_options",
  "return_token_ids",
  "return_tokens_as_token_ids",
  "include_metrics",
  "priority",
  "request_id",
  "cache_salt",
  "deadline_ms",
  "user",
  "metadata",
  "store",
] as const satisfies readonly (keyof GenerationFields)[];

/** A temperature below this counts as greedy: dividing by it would overflow. */
const GREEDY_BELOW = 1e-5;
const MAX_STOP_STRINGS = 16;
const MAX_NAME_LENGTH = 1024;
/** Timers can't wait longer. */
const MAX_DEADLINE_MS = 2 ** 31 - 1;

type SharedPart = Omit<
  ParsedRequest,
  "endpoint" | "prompts" | "calls" | "wantLogprobs" | "reasoning" | "echo" | "isPromptOnly"
> & {
  readonly requested: RequestedParams;
};

/** Refuses unknown and unsupported fields. `ownFields` are the endpoint's, besides the shared ones. */
export function openRequest(body: unknown, ownFields: readonly string[], context: RequestContext): Fields {
  const fields = new Fields(body);
  const supported = [...ownFields, ...GENERATION_FIELDS];
  fields.refuseOthers(supported, UNSUPPORTED_FIELDS);
  refuseUnsupported(fields, supported);
  checkModel(fields, context.modelName);
  return fields;
}

/** @param extraStop besides the request's own @param topLogprobs number to return per token */
export function parseGenerationFields(
  fields: Fields,
  context: RequestContext,
  extraStop: readonly string[],
  topLogprobs: number,
): SharedPart {
  const { defaults, vocabSize } = context;
  const temperature = fields.number("temperature", { min: 0, max: 2 }) ?? defaults.temperature;
  const stopTokenIds = [...new Set(parseTokenIds(fields, "stop_token_ids", vocabSize))];
  const ignoreEos = fields.boolean("ignore_eos") ?? false;
  const n = fields.integer("n", { min: 1, max: 128 }) ?? 1;
  const beamSearch = parseBeamSearch(fields, n);
  const structure = parseStructure(fields);
  if (beamSearch !== null && structure !== null)
    throw refused("use_beam_search", "Beam search can't follow a grammar; leave out one of the two.");
  const stream = fields.boolean("stream") ?? false;
  const promptLogprobs = parsePromptLogprobs(fields, stream);
  fields.string("user");
  fields.boolean("store");
  fields.read("metadata", OBJECT);
  return {
    n,
    beamSearch,
    structure,
    stream,
    promptLogprobs,
    includeUsage: parseIncludeUsage(fields),
    returnTokenIds: fields.boolean("return_token_ids") ?? false,
    namesTokensById: fields.boolean("return_tokens_as_token_ids") ?? false,
    includeMetrics: fields.boolean("include_metrics") ?? false,
    priority: fields.integer("priority", { min: -(2 ** 31), max: 2 ** 31 - 1 }) ?? 0,
    requestId: parseName(fields, "request_id"),
    cacheSalt: parseName(fields, "cache_salt"),
    deadlineMs: fields.number("deadline_ms", { min: 0, max: MAX_DEADLINE_MS, above: true }) ?? null,
    requested: {
      temperature: temperature < GREEDY_BELOW ? 0 : temperature,
      ...parseFilters(fields, context),
      ...parseRules(fields, context, { stopTokenIds, ignoreEos }),
      seed: fields.integer("seed", { min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
      topLogprobs,
      promptLogprobs,
      // With a grammar, the grammar decides where the answer ends.
      stop: [...new Set([...parseStop(fields), ...(structure === null ? extraStop : [])])],
      stopTokenIds,
      includeStopStrInOutput: fields.boolean("include_stop_str_in_output") ?? false,
      ignoreEos,
    },
  };
}

/** Reads a positive integer. The default, the rest of the context, depends on the prompt. */
export function parseMaxTokens(fields: Fields, name: string): number | undefined {
  return fields.integer(name, { min: 1, max: Infinity });
}

/** As in vLLM, a stream contains only the answer. */
function parsePromptLogprobs(fields: Fields, isStreamed: boolean): number | null {
  const promptLogprobs = fields.integer("prompt_logprobs", { min: 0, max: MAX_TOP_LOGPROBS }) ?? null;
  if (promptLogprobs === null || !isStreamed) return promptLogprobs;
  throw refused("prompt_logprobs", "prompt_logprobs is not available with stream: true; leave one out.");
}

function parseIncludeUsage(fields: Fields): boolean {
  const value = fields.get("stream_options");
  if (value === undefined) return false;
  const options = new Fields(value, "stream_options");
  const others = ["continuous_usage_stats", "include_obfuscation"];
  options.refuseOthers(["include_usage"], others);
  for (const name of others) {
    const path = options.path(name);
    if (options.boolean(name)) throw unsupported(path, `${path} is not supported yet.`);
  }
  return options.boolean("include_usage") ?? false;
}

function parseStop(fields: Fields): string[] {
  const value = fields.get("stop");
  if (value === undefined) return [];
  if (typeof value === "string") return [parseStopString("stop", value)];
  if (!Array.isArray(value)) throw invalidType("stop", "a string or a list of strings", value);
  if (value.length > MAX_STOP_STRINGS)
    throw refused("stop", `stop has ${value.length} strings; at most ${MAX_STOP_STRINGS} are allowed.`);
  return fields.list("stop", (one, path) => parseStopString(path, one)) ?? [];
}

function parseStopString(path: string, value: unknown): string {
  if (typeof value !== "string") throw invalidType(path, "a string", value);
  if (value === "") throw invalidValue(path, "a string that is not empty", value);
  return value;
}

function parseName(fields: Fields, field: string): string | null {
  const name = fields.string(field);
  if (name === undefined) return null;
  if (name !== "" && name.length <= MAX_NAME_LENGTH) return name;
  throw refused(field, `${field} has ${name.length} characters; it must have 1 to ${MAX_NAME_LENGTH}.`);
}
