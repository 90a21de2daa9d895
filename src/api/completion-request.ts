import { MAX_TOP_LOGPROBS } from "../engine/sampling/sampling-params.ts";
import { NO_REASONING } from "../engine/text/reasoning-splitter.ts";
import type { CompletionRequest, GenerationFields } from "../protocol/openai.ts";
import { openRequest, parseGenerationFields } from "./generation-fields.ts";
import { preparePrompts, type EncodedPrompt, type ParsedRequest, type RequestContext } from "./parsed-request.ts";
import { parseTokenId } from "./shared-fields.ts";
import { type Fields, invalidType, invalidValue, refused } from "./validate.ts";

const COMPLETION_FIELDS = [
  "prompt",
  "max_tokens",
  "logprobs",
  "echo",
  "add_special_tokens",
  "parse_special_tokens",
] as const satisfies readonly Exclude<keyof CompletionRequest, keyof GenerationFields>[];

const DEFAULT_MAX_TOKENS = 16;
/** Most choices of a request: all of them are queued at once. */
const MAX_CHOICES = 4096;

/** @throws ChorusError naming the field */
export function parseCompletionRequest(body: unknown, context: RequestContext): ParsedRequest {
  const fields = openRequest(body, COMPLETION_FIELDS, context);
  const prompts = parsePrompts(fields, context);
  // Here logprobs is a number: how many top log-probabilities to return per token.
  const logprobs = fields.integer("logprobs", { min: 0, max: MAX_TOP_LOGPROBS });
  const { requested, ...shared } = parseGenerationFields(fields, context, [], logprobs ?? 0);
  const echo = fields.boolean("echo") ?? false;
  const maxTokens = fields.integer("max_tokens", { min: echo ? 0 : 1, max: Infinity });
  const isPromptOnly = maxTokens === 0;
  if (isPromptOnly && requested.minTokens > 0)
    throw invalidValue("min_tokens", "0 where max_tokens is", requested.minTokens);
  const echoed = (echo ? logprobs : undefined) ?? null;
  const wanted = [requested.promptLogprobs, echoed].filter((one) => one !== null);
  const promptLogprobs = wanted.length > 0 ? Math.max(...wanted) : null;
  if (prompts.length * shared.n > MAX_CHOICES) {
    const many = `${prompts.length} prompts with n = ${shared.n}`;
    throw refused("prompt", `${many} exceed the limit of ${MAX_CHOICES} answers per request.`);
  }
  return {
    endpoint: "completions",
    prompts: preparePrompts(
      prompts,
      { ...requested, promptLogprobs },
      // As in vLLM, a sequence draws at least one token.
      isPromptOnly ? 1 : maxTokens,
      DEFAULT_MAX_TOKENS,
      context,
    ),
    wantLogprobs: logprobs !== undefined,
    calls: null,
    reasoning: NO_REASONING,
    echo,
    isPromptOnly,
    ...shared,
  };
}

/** Reads a text, several texts, token ids, or several arrays of ids. */
function parsePrompts(fields: Fields, context: RequestContext): EncodedPrompt[] {
  const prompt = fields.needed("prompt", fields.get("prompt"));
  const encode = textEncoder(fields, context);
  if (typeof prompt === "string") return [encode("prompt", prompt)];
  if (!Array.isArray(prompt))
    throw invalidType("prompt", "a string, a list of strings, token ids, or lists of those", prompt);
  if (prompt.length === 0) throw invalidValue("prompt", "at least one token, or one text", prompt);

  if (typeof prompt[0] === "number") return [readTokenIds("prompt", prompt, context)];
  const readPart = (value: unknown, path: string) => {
    if (typeof value === "string" && typeof prompt[0] === "string") return encode(path, value);
    if (Array.isArray(value) && Array.isArray(prompt[0])) return readTokenIds(path, value, context);
    throw invalidType(path, typeof prompt[0] === "string" ? "a string" : "a string or a list of token ids", value);
  };
  return fields.list("prompt", readPart) ?? [];
}

/**
 * Returns what encodes a text as it stands alone: with the tokens that the tokenizer puts around it, unless the request leaves them out.
 * Control tokens in it are such, unless they are to stay text.
 */
export function textEncoder(
  fields: Fields,
  { tokenizer }: Pick<RequestContext, "tokenizer">,
): (param: string, text: string) => EncodedPrompt {
  const addsSpecial = fields.boolean("add_special_tokens") ?? true;
  const parsesSpecial = fields.boolean("parse_special_tokens") ?? true;
  const { before, after } = tokenizer.specialTokens;
  const added = { before: before.length, after: after.length };
  return (param, text) => {
    const tokenIds = parsesSpecial ? tokenizer.encode(text) : tokenizer.encodePlain(text);
    return addsSpecial ? { param, tokenIds: [...before, ...tokenIds, ...after], added } : { param, tokenIds };
  };
}

function readTokenIds(param: string, values: readonly unknown[], { vocabSize }: RequestContext): EncodedPrompt {
  return { param, tokenIds: Array.from(values, (value, i) => parseTokenId(`${param}[${i}]`, value, vocabSize)) };
}
