// The fields that filter tokens or change their logits before one is drawn.

import { MAX_RULE_WORDS, ruleWords, type LogitRules } from "../engine/sampling/logit-rules.ts";
import type { TokenFilters } from "../engine/sampling/sampling-params.ts";
import type { GenerationFields } from "../protocol/openai.ts";
import type { RequestContext } from "./parsed-request.ts";
import { parseSomeTokenIds, parseTokenId } from "./shared-fields.ts";
import { Fields, invalidType, invalidValue, refused } from "./validate.ts";

export const RULE_FIELDS = [
  "top_p",
  "top_k",
  "min_p",
  "typical_p",
  "repetition_penalty",
  "presence_penalty",
  "frequency_penalty",
  "no_repeat_ngram_size",
  "logit_bias",
  "bad_words",
  "min_tokens",
  "allowed_token_ids",
] as const satisfies readonly (keyof GenerationFields)[];

export function parseFilters(fields: Fields, { defaults, vocabSize }: RequestContext): TokenFilters {
  const topK = fields.integer("top_k", { min: -1, max: Infinity }) ?? defaults.topK;
  return {
    topK: topK >= vocabSize ? 0 : Math.max(0, topK),
    topP: fields.number("top_p", { min: 0, max: 1, above: true }) ?? defaults.topP,
    minP: fields.number("min_p", { min: 0, max: 1 }) ?? defaults.minP,
    typicalP: fields.number("typical_p", { min: 0, max: 1, above: true }) ?? defaults.typicalP,
  };
}

/** @param stopTokenIds the request's own; min_tokens forbids them too */
export function parseRules(
  fields: Fields,
  context: RequestContext,
  { stopTokenIds, ignoreEos }: { stopTokenIds: readonly number[]; ignoreEos: boolean },
): LogitRules {
  const minTokens = fields.integer("min_tokens", { min: 0, max: Infinity }) ?? 0;
  const ends = [...stopTokenIds, ...(ignoreEos ? [] : context.eosTokenIds)];
  const rules: LogitRules = {
    logitBias: parseLogitBias(fields, context.vocabSize),
    repetitionPenalty:
      fields.number("repetition_penalty", { min: 0, max: 100, above: true }) ?? context.defaults.repetitionPenalty,
    presencePenalty: fields.number("presence_penalty", { min: -2, max: 2 }) ?? 0,
    frequencyPenalty: fields.number("frequency_penalty", { min: -2, max: 2 }) ?? 0,
    noRepeatNgramSize:
      fields.integer("no_repeat_ngram_size", { min: 0, max: context.limits.maxModelLen }) ??
      context.defaults.noRepeatNgramSize,
    badWords: parseBadWords(fields, context),
    minTokens,
    endTokenIds: minTokens === 0 ? [] : [...new Set(ends)],
    allowedTokenIds: parseSomeTokenIds(fields, "allowed_token_ids", context.vocabSize) ?? null,
  };
  const words = ruleWords(rules);
  if (words <= MAX_RULE_WORDS) return rules;
  throw refused(
    rules.logitBias.length > 0 ? "logit_bias" : "bad_words",
    `logit_bias, bad_words and the stop tokens of min_tokens take ${words} words of memory together (two a bias, one ` +
      `a stop token, one more than its tokens a bad word); there are ${MAX_RULE_WORDS}.`,
  );
}

/** OpenAI's: an object of token ids, as strings, and numbers from -100 to 100. */
function parseLogitBias(fields: Fields, vocabSize: number): [number, number][] {
  const value = fields.get("logit_bias");
  if (value === undefined) return [];
  const biases = new Fields(value, "logit_bias");
  return biases.names().map((name) => {
    const key = JSON.stringify(name.slice(0, 40));
    if (!/^\d{1,9}$/.test(name)) throw refused("logit_bias", `logit_bias has the key ${key}; keys must be token ids.`);
    const bias = biases.number(name, { min: -100, max: 100 }) ?? 0;
    return [parseTokenId(`logit_bias.${name}`, Number(name), vocabSize), bias];
  });
}

/** Returns each word's tokens at the beginning of a text and after a space. */
function parseBadWords(fields: Fields, { tokenizer }: RequestContext): number[][] {
  const words = fields.list("bad_words", (value, path) => {
    if (typeof value !== "string") throw invalidType(path, "a string", value);
    if (value.trim() === "") throw invalidValue(path, "a word", value);
    if (value.length > 200) throw invalidValue(path, "a word of at most 200 characters", value);
    const bare = tokenizer.encode(value.trimStart());
    const spaced = tokenizer.encode(` ${value.trimStart()}`);
    return [bare, spaced];
  });
  const unique = new Map((words ?? []).flat().map((ids) => [ids.join(), ids]));
  return [...unique.values()];
}
