// Asks an engine at the smallest and the largest value of each numeric field: for any backend, and a model with a context of
// 256.

import type {
  ChatCompletionRequest,
  createEngine,
  ChorusEngine,
  CreateEngineOptions,
  ModelSource,
} from "../../src/index.ts";
import { ChorusError } from "../../src/protocol/errors.ts";
import { LIVE_FIELDS } from "../../src/protocol/live-config.ts";
import type { Request } from "./exactness.ts";
import type { FieldCase } from "./field-case.ts";
import { ALERT_CASES, COMPLETION_CASES, CONFIG_CASES } from "./field-cases.ts";

/** Fields of a config or a request, by what they say. */
type Cases = Record<string, object>;

const REPEATED = Array.from({ length: 24 }, (_, i) => 3 + (i % 5));
/** Of the engine that is asked for request fields: less than the model's, since the longest answers take most of the time. */
const CONTEXT = 64;
const LONGEST = CONTEXT - REPEATED.length;
const PLAIN: Request = { prompt: REPEATED, max_tokens: 6, ignore_eos: true, return_token_ids: true, logprobs: 0 };
const GREEDY: Request = { ...PLAIN, seed: 5, temperature: 0 };
const DRAWN: Request = { ...GREEDY, temperature: 1 };
/** One for a context of two tokens, one for a cache of one block, and two that are long enough for the longest drafts. */
const REQUESTS: Request[] = [
  { ...GREEDY, prompt: [7], max_tokens: 1 },
  { ...DRAWN, prompt: [7, 8, 9], max_tokens: 8 },
  { ...GREEDY, max_tokens: 24 },
  { ...DRAWN, max_tokens: 24 },
];

/** Different answers to REQUESTS, by the field that makes them differ. */
export const AT_CONFIG_LIMITS = {
  "maxModelLen 2": ["same", ...Array.from({ length: 3 }, () => "context_length_exceeded of prompt")],
  "numGpuBlocks 1": ["same", "same", "cache_capacity_exceeded of prompt", "cache_capacity_exceeded of prompt"],
  "numGpuBlocks 16777216": "out_of_memory of numGpuBlocks",
  "kvCacheBytes 9007199254740991": "out_of_memory of kvCacheBytes",
};

const SEEDS = [Number.MIN_SAFE_INTEGER, -(2 ** 32), -1, 0, 1, 2 ** 32, Number.MAX_SAFE_INTEGER];

/** Different greedy and drawn answers, by the field that makes them differ. */
export const AT_REQUEST_LIMITS = {
  "temperature 0": ["same", "other"],
  "temperature 2": ["other", "other"],
  "top_p 5e-324": ["same", "other"],
  "min_p 1": ["same", "other"],
  "typical_p 5e-324": ["same", "other"],
  "repetition_penalty 5e-324": ["other", "other"],
  "repetition_penalty 100": ["other", "same"],
  "presence_penalty -2": ["other", "other"],
  "presence_penalty 2": ["other", "same"],
  "frequency_penalty -2": ["other", "other"],
  "frequency_penalty 2": ["other", "same"],
  "seed -9007199254740991": ["same", "other"],
  "seed 9007199254740991": ["same", "other"],
  "different seeds": SEEDS.length,
  "deadline_ms 5e-324": ["other", "other"], // none in time
  "max_tokens 1": ["other", "other"],
  "top_k 1": ["same", "other"],
  "max_tokens 40": ["other", "other"],
  "min_tokens 40": ["other", "other"],
  "best_of 1": ["other", "other"], // without log-probabilities
  "best_of 20": ["other", "other"],
  "length_penalty -10": ["other", "other"],
  "length_penalty 10": ["other", "other"],
};

/** Limits that depend on the prompt's length, or on what else is asked for. Beam search draws nothing. */
const BEAMS = { use_beam_search: true, seed: null, temperature: 0, logprobs: null };
const DEPENDENT: Cases = {
  "top_k 1": { top_k: 1 },
  "max_tokens 40": { max_tokens: LONGEST },
  "min_tokens 40": { max_tokens: LONGEST, min_tokens: LONGEST, ignore_eos: false },
  "best_of 1": { ...BEAMS, best_of: 1 },
  "best_of 20": { ...BEAMS, best_of: 20 },
  "length_penalty -10": { ...BEAMS, best_of: 2, length_penalty: -10 },
  "length_penalty 10": { ...BEAMS, best_of: 2, length_penalty: 10 },
};

/** Limits of a chat's own fields, and of the completion's that has the same answer. */
const CHATS: readonly [fields: Partial<ChatCompletionRequest>, completion: string][] = [
  [{ top_logprobs: 0 }, "logprobs 0"],
  [{ top_logprobs: 20 }, "logprobs 20"],
  [{ max_tokens: 1 }, "max_tokens 1"],
  [{ max_tokens: LONGEST }, "max_tokens 40"],
  [{ max_tokens: null, max_completion_tokens: 1 }, "max_tokens 1"],
  [{ max_tokens: null, max_completion_tokens: LONGEST }, "max_tokens 40"],
];

/** A template that writes nothing, and the prompt as the tokens of a message that goes on. */
const EMPTY_TEMPLATE = new File(["{% for message in messages %}{% endfor %}"], "chat_template.jinja");

function asChat({ prompt, ...fields }: Request, own: Partial<ChatCompletionRequest>) {
  return {
    ...fields,
    messages: [{ role: "assistant", content: "x" }],
    continue_final_message: true,
    final_message_token_ids: prompt as number[],
    logprobs: true,
    ...own,
    stream: false,
  } satisfies ChatCompletionRequest;
}

/** The other fields that a value needs, or the largest value where it depends on the context. */
const BESIDE: Record<string, object> = {
  "maxNumBatchedTokens 1": { maxNumSeqs: 1 },
  "longPrefillTokenThreshold 256": { maxNumBatchedTokens: 256 },
  "no_repeat_ngram_size 256": { no_repeat_ngram_size: CONTEXT },
  "batchWindowMs 60000": { batchingMode: "static", maxNumSeqs: REQUESTS.length }, // a full batch waits for none
};

/** Returns the smallest and the largest number that each of a table's fields accepts. */
function numericCases(table: object, wrap = (field: object): object => field): Cases {
  const numeric = Object.entries(table as Record<string, FieldCase>).filter(([, { kinds }]) =>
    kinds.includes("integer"),
  );
  return Object.fromEntries(
    numeric.flatMap(([name, { accepted }]) => {
      const numbers = accepted.filter((value) => typeof value === "number");
      return [Math.min(...numbers), Math.max(...numbers)].map((value) => {
        const label = `${name} ${value}`;
        return [label, wrap({ [name]: value, ...BESIDE[label] })];
      });
    }),
  );
}

function draftCases(model: ModelSource): Cases {
  const drafts = CONFIG_CASES.speculation.accepted as { method: string }[];
  return Object.fromEntries(
    drafts.map((one) => [
      JSON.stringify(one),
      { speculation: { ...one, ...(one.method === "draft_model" && { model }) } },
    ]),
  );
}

const isLive = (fields: object) =>
  Object.keys(fields).every((name) => (LIVE_FIELDS as readonly string[]).includes(name));
const BACK_TO_DEFAULTS = Object.fromEntries(LIVE_FIELDS.map((name) => [name, null]));

/** Returns tokens and log-probabilities of the first choice, and why it ended; or the error's code and field. */
function answer(engine: ChorusEngine, request: Request): Promise<string> {
  return orRefusal(async () => {
    const [choice] = (await engine.completions.create(request)).choices;
    return JSON.stringify([choice?.token_ids, choice?.logprobs?.token_logprobs, choice?.finish_reason]);
  });
}

/** Returns what `answer` returns of a completion. */
function answerOfChat(engine: ChorusEngine, request: ReturnType<typeof asChat>): Promise<string> {
  return orRefusal(async () => {
    const [choice] = (await engine.chat.completions.create(request)).choices;
    const logprobs = choice?.logprobs?.content?.map(({ logprob }) => logprob);
    return JSON.stringify([choice?.token_ids, logprobs, choice?.finish_reason]);
  });
}

async function orRefusal<Result>(attempt: () => Promise<Result>): Promise<Result | string> {
  try {
    return await attempt();
  } catch (error) {
    if (!(error instanceof ChorusError)) throw error;
    return `${error.code} of ${error.param}`;
  }
}

/**
 * Asks under each limit of the config's fields. Returns which answers differ from those under the defaults, by what made them
 * so: "other", or the error's code and field. What can't change while an engine runs gets an engine of its own.
 */
export async function differencesAtConfigLimits(
  create: typeof createEngine,
  options: CreateEngineOptions & { readonly model: ModelSource },
): Promise<Record<string, unknown>> {
  const speculation = { method: "draft_model", model: options.model } as const;
  const sizes = { maxNumSeqs: 1024, maxNumBatchedTokens: 8192 };
  await using engine = await create({ ...options, ...sizes, speculation });
  const answers = (from: ChorusEngine) => Promise.all(REQUESTS.map((request) => answer(from, request)));
  const largest = await answers(engine);
  const under = (fields: object) =>
    orRefusal(async () => {
      if (isLive(fields)) {
        await engine.update({ ...BACK_TO_DEFAULTS, ...fields });
        return answers(engine);
      }
      await using own = await create({ ...options, ...fields });
      return await answers(own);
    });
  const byDefault = await under({});
  const cases: Cases = {
    ...numericCases(CONFIG_CASES),
    ...numericCases(ALERT_CASES, (alerts) => ({ alerts })),
    ...draftCases(options.model),
  };
  const got: Record<string, unknown> = { "the largest steps": differences(largest, byDefault) };
  for (const [label, fields] of Object.entries(cases)) got[label] = differences(await under(fields), byDefault);
  return withoutNull(got);
}

/** Null: there are none. */
function differences(got: readonly string[] | string, byDefault: readonly string[] | string): unknown {
  if (typeof got === "string" || typeof byDefault === "string") return got;
  const each = got.map((one, i) => (one === byDefault[i] ? "same" : one.startsWith("[") ? "other" : one));
  return each.every((one) => one === "same") ? null : each;
}

function withoutNull(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}

/**
 * Asks with each limit of a request's fields, greedily and at a temperature: all of these at once, then one after the other.
 * Returns how each answer differs from the default's, and each that depends on those beside it, or on the endpoint.
 */
export async function differencesAtRequestLimits(
  create: typeof createEngine,
  options: CreateEngineOptions & { readonly model: readonly File[] },
): Promise<Record<string, unknown>> {
  await using engine = await create({
    ...options,
    model: [...options.model, EMPTY_TEMPLATE],
    maxModelLen: CONTEXT,
    maxNumSeqs: 256,
  });
  const ask = (request: Request) => answer(engine, request);
  const cases: Cases = { ...numericCases(COMPLETION_CASES), ...DEPENDENT };
  const requests = Object.values(cases).flatMap((fields): Request[] => [
    { ...GREEDY, ...fields },
    { ...DRAWN, ...fields },
  ]);
  const inChats = CHATS.flatMap(([own]) => [asChat(GREEDY, own), asChat(DRAWN, own)]);
  const [together, chats] = await Promise.all([
    Promise.all(requests.map(ask)),
    Promise.all(inChats.map((request) => answerOfChat(engine, request))),
  ]);
  const alone: string[] = [];
  for (const request of requests) alone.push(await ask(request));
  const byDefault = [await ask(GREEDY), await ask(DRAWN)];
  const bySeed = await Promise.all(SEEDS.map((seed) => ask({ ...DRAWN, seed })));
  const got: Record<string, unknown> = { "different seeds": new Set(bySeed).size };
  for (const [i, label] of Object.keys(cases).entries()) {
    got[label] = differences(alone.slice(2 * i, 2 * i + 2), byDefault);
    got[`${label}, beside others`] = differences(together.slice(2 * i, 2 * i + 2), alone.slice(2 * i, 2 * i + 2));
  }
  for (const [i, [own, completion]] of CHATS.entries()) {
    const at = 2 * Object.keys(cases).indexOf(completion);
    const label = `${JSON.stringify(own)} in a chat`;
    got[label] = differences(chats.slice(2 * i, 2 * i + 2), alone.slice(at, at + 2));
  }
  return withoutNull(got);
}
