import type { CompletionRequest } from "../../src/protocol/openai.ts";
import { COMPLETION_CASES, refusalsOf } from "../../tests/requests/field-cases.ts";
import { seededRandom, type Random } from "../seeded-random.ts";

/** Part of the name of each request that waits for the scheduler only. */
export const PLAIN = "plain";

let lastId = 0;

const tokens = (length: number, salt: number) =>
  Array.from({ length }, (_, i) => (Math.imul(i * 31 + salt + 7, 0x9e3779b1) >>> 8) % 300);

type Fields = Omit<CompletionRequest, "prompt" | "stream">;

/** Every kind of request: joins of many lengths, rules, choices, beams, grammars, scores, and text that repeats itself. */
const KINDS: readonly ((salt: number) => Fields & { readonly prompt: CompletionRequest["prompt"] })[] = [
  (salt) => ({ prompt: tokens(5 + salt, salt), temperature: 0, max_tokens: 40, logprobs: 0 }),
  (salt) => ({ prompt: tokens(40, salt), temperature: 0.9, seed: salt, top_p: 0.9, max_tokens: 60, logprobs: 1 }),
  (salt) => ({ prompt: tokens(120 + 20 * salt, 1), temperature: 0, max_tokens: 20 }),
  (salt) => ({ prompt: tokens(30, salt), n: 3, seed: salt, max_tokens: 24, frequency_penalty: 0.4, min_p: 0.02 }),
  (salt) => ({ prompt: tokens(8, salt).flatMap((id) => [id, 7, 9, 11, 7, 9, 11]), temperature: 0, max_tokens: 50 }),
  (salt) => ({ prompt: tokens(20, salt), use_beam_search: true, n: 2, best_of: 3, max_tokens: 12 }),
  (salt) => ({
    prompt: tokens(12, salt),
    structured_outputs: { regex: "[a-z]{3,9}( [a-z]{2,5}){1,4}" },
    max_tokens: 40,
    seed: salt,
  }),
  (salt) => ({
    prompt: tokens(12, salt),
    structured_outputs: { choice: ["yes", "no", "maybe"] },
    max_tokens: 8,
    seed: salt,
  }),
  (salt) => ({ prompt: tokens(50, salt), echo: true, max_tokens: 0, prompt_logprobs: 2 }),
  (salt) => ({ prompt: tokens(9, salt), max_tokens: 30, seed: salt, stop: ["e"], repetition_penalty: 1.2 }),
];
const NUM_WAITING_KINDS = [5, 6, 7];
const VARIANTS = 3;

const NUM_PLAIN = KINDS.length * VARIANTS;
const NUM_ODD = 40;

/** Draws one of all requests; of five one is odd. */
export function numberOf(random: Random): number {
  return Math.floor(random() < 0.2 ? NUM_PLAIN + NUM_ODD * random() : NUM_PLAIN * random());
}

/** Returns whether a request may be refused. */
export function isOdd(number: number): boolean {
  return number >= NUM_PLAIN;
}

/** Without those that depend on the clock, or that make an answer long. */
const { n: _, stream: __, deadline_ms: ___, request_id: ____, ...ODD_FIELDS } = COMPLETION_CASES;

/** Returns a request that has a few fields at their borders, some of them beyond. The same for the same number. */
function oddFields(number: number): Fields & { readonly prompt: CompletionRequest["prompt"] } {
  const random = seededRandom(number);
  const oneOf = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)];
  const fields = Array.from({ length: 1 + Math.floor(3 * random()) }, () => {
    const [name, field] = oneOf(Object.entries(ODD_FIELDS)) ?? ["", null];
    const refused = random() < 0.3 && field ? refusalsOf(name, field).map(({ value }) => value) : [];
    return [name, oneOf(refused.length > 0 ? refused : (field?.accepted ?? []))] as const;
  });
  return { prompt: tokens(9, number), max_tokens: 12, ...Object.fromEntries(fields), seed: number };
}

export function bodyOf(number: number): CompletionRequest & { stream?: false } {
  if (isOdd(number)) return { ...oddFields(number), request_id: `odd-${lastId++}` };
  const kind = number % KINDS.length;
  const fields = KINDS[kind]?.(Math.floor(number / KINDS.length));
  if (fields === undefined) throw new RangeError(`there is no request ${number}`);
  const name = NUM_WAITING_KINDS.includes(kind) ? "waiting" : PLAIN;
  return { ignore_eos: true, return_token_ids: true, ...fields, request_id: `${name}-${lastId++}` };
}
