// The strongest test there is, for any browser: whatever happens around a request, it gets the same tokens and
// log-probabilities, to the last bit. Nothing of a test runner is imported: a bare page may import it, too.

import type {
  ChorusEngine,
  CompletionRequest,
  createEngine,
  CreateEngineOptions,
  EngineChanges,
} from "../../src/index.ts";

type CreateEngine = typeof createEngine;
type EngineStats = Awaited<ReturnType<ChorusEngine["stats"]>>;
export type Request = CompletionRequest & { stream?: false };

/** Deterministic and without a pattern. */
export function mixed(a: number, b: number): number {
  return (Math.imul(a * 31 + b + 7, 0x9e3779b1) >>> 8) % 511;
}

/** Some requests have rules that look at the text so far, beside others that have none. */
const RULES: Partial<Request>[] = [
  {},
  { frequency_penalty: 0.4, min_p: 0.02, logit_bias: { 5: 2, 138: -3 } },
  {},
  { repetition_penalty: 1.2, presence_penalty: 0.5, no_repeat_ngram_size: 4 },
];

// Half of them begin with the same 40 tokens, as panes with one system prompt do.
export const REQUESTS: Request[] = Array.from({ length: 10 }, (_, i) => ({
  prompt: Array.from({ length: i % 2 === 0 ? 41 + 3 * i : 1 + 6 * i }, (_unused, position) =>
    mixed(i % 2 === 0 && position < 40 ? 0 : i + 1, position),
  ),
  max_tokens: 20 + ((i * 5) % 17),
  ignore_eos: true,
  return_token_ids: true,
  logprobs: 0,
  temperature: i % 3 === 0 ? 0 : 0.9,
  top_k: i % 3 === 1 ? 20 : 0,
  top_p: i % 3 === 2 ? 0.9 : 1,
  seed: 77 * i,
  ...RULES[i % RULES.length],
}));

/** Creates engines that take the requests above with a model of fewer tokens. */
export function withFewTokens(create: CreateEngine): CreateEngine {
  return async (options) => {
    const engine = await create(options);
    const { vocabSize } = engine.model;
    const complete = ({ prompt, ...request }: Request) =>
      engine.completions.create({ ...request, prompt: (prompt as readonly number[]).map((id) => id % vocabSize) });
    return new Proxy(engine, {
      get(target, name) {
        const value: unknown = name === "completions" ? { create: complete } : Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  };
}

/** The first requests have every temperature, filter and rule, and the prefix that others share. */
export const WITH_EVERY_RULE = 5;

export async function run(engine: ChorusEngine, request: Request): Promise<unknown> {
  const { choices } = await engine.completions.create(request);
  return choices.map(({ token_ids, logprobs, finish_reason }) => [token_ids, logprobs?.token_logprobs, finish_reason]);
}

/** Each request's answer when it has the engine to itself. @param count the first so many requests [all] */
export async function answersAlone(
  create: CreateEngine,
  options: CreateEngineOptions,
  count?: number,
): Promise<unknown[]> {
  await using engine = await create({ ...options, runAhead: 0, enablePrefixCaching: false });
  const answers = [];
  for (const request of REQUESTS.slice(0, count)) answers.push(await run(engine, request));
  return answers;
}

/** They arrive three at a time, `everyMs`, at moments that only the machine knows; 0: all at once. */
export async function answersTogether(engine: ChorusEngine, everyMs = 12, count?: number): Promise<unknown[]> {
  return Promise.all(
    REQUESTS.slice(0, count).map(async (request, i) => {
      if (everyMs > 0) await new Promise((resolve) => setTimeout(resolve, everyMs * Math.floor(i / 3)));
      return run(engine, request);
    }),
  );
}

/** None begins before all have arrived, or as many as maxNumSeqs allows, however fast the engine is. */
async function answersAtOnce(engine: ChorusEngine, count?: number): Promise<unknown[]> {
  let numMissing = REQUESTS.slice(0, count).length;
  const arrived = new Promise<void>((resolve) => {
    const stop = engine.on("request", ({ status }) => {
      if (status !== "queued" || --numMissing > 0) return;
      stop();
      resolve();
    });
  });
  await engine.update({ batchingMode: "static", batchWindowMs: 60_000 });
  const answers = answersTogether(engine, 0, count);
  await Promise.race([arrived, answers]);
  await engine.update({ batchingMode: null, batchWindowMs: null });
  return answers;
}

interface AnswersUnder {
  /** Their answers, each time. */
  readonly rounds: readonly unknown[][];
  readonly hasHappened: boolean;
  readonly stats: EngineStats;
}

/**
 * Asks them together, `minRounds` times, and more often until what the circumstance's name says has happened. Each round they
 * come closer together: a fast machine would be done with some before others arrive.
 * @param count the first so many requests [all]
 */
export async function answersUnder(
  create: CreateEngine,
  options: CreateEngineOptions,
  { config, changes = [], happened }: Circumstance,
  minRounds: number,
  count?: number,
): Promise<AnswersUnder> {
  await using engine = await create({ ...options, ...config });
  let numSteps = 0;
  engine.on("step", () => {
    const change = ++numSteps % 3 === 0 ? changes[(numSteps / 3) % changes.length] : undefined;
    if (change) void engine.update(change);
  });
  const rounds = [];
  let stats = await engine.stats();
  for (;;) {
    const before = stats;
    const everyMs: number | undefined = ARRIVALS_MS[rounds.length];
    rounds.push(await (everyMs === undefined ? answersAtOnce(engine, count) : answersTogether(engine, everyMs, count)));
    stats = await engine.stats();
    // By itself: rounds of a fast machine, whose requests hardly met, don't count against one whose requests did.
    const hasHappened = happened(since(before, stats));
    if ((rounds.length >= minRounds && hasHappened) || rounds.length > ARRIVALS_MS.length) {
      return { rounds, hasHappened, stats };
    }
  }
}

/** What is counted, counted from `before` on. */
function since(before: EngineStats, stats: EngineStats): EngineStats {
  const counted = Object.entries(stats).map(([name, value]) => {
    const earlier: unknown = Reflect.get(before, name);
    const isCount = name.endsWith("_total") || name.startsWith("prefix_cache_");
    return [name, isCount && typeof earlier === "number" ? value - earlier : value];
  });
  return { ...stats, ...Object.fromEntries(counted) };
}

/** Between arrivals, of each round but the last. */
const ARRIVALS_MS = [12, 6, 3, 1, 0];

export interface Circumstance {
  readonly name: string;
  readonly config: Partial<CreateEngineOptions>;
  /** Made in turn, one after every third step. [none] */
  readonly changes?: readonly EngineChanges[];
  /** The events of one round without which the comparison would prove nothing. */
  readonly happened: (stats: EngineStats) => boolean;
}

export const shared = (stats: { step_sequences_total: number; engine_steps_total: number }) =>
  stats.step_sequences_total > 2 * stats.engine_steps_total;

const DRAFTS = { method: "ngram", num_speculative_tokens: 3, minMatch: 1 } as const;

export const WITH_DRAFTS: Circumstance = {
  name: "with drafts that are sometimes right",
  config: { runAhead: 2, speculation: DRAFTS, enablePrefixCaching: false },
  happened: ({ spec_decode_num_draft_tokens_total: drafted, spec_decode_num_accepted_tokens_total: accepted }) =>
    accepted > 0 && accepted < drafted,
};

export const CIRCUMSTANCES: Circumstance[] = [
  {
    name: "batched, step by step",
    config: { runAhead: 0, enablePrefixCaching: false },
    happened: shared,
  },
  {
    name: "in chunks of 7, four steps ahead",
    config: {
      runAhead: 4,
      maxNumBatchedTokens: 16,
      maxNumSeqs: 16,
      longPrefillTokenThreshold: 7,
      enablePrefixCaching: false,
    },
    happened: shared,
  },
  {
    name: "preempted",
    config: { runAhead: 2, maxNumBatchedTokens: 64, maxNumSeqs: 10, numGpuBlocks: 14, enablePrefixCaching: false },
    happened: (stats) => stats.num_preemptions_total > 0,
  },
  {
    name: "found in the prefix cache, and preempted",
    config: {
      runAhead: 3,
      maxNumBatchedTokens: 50,
      maxNumSeqs: 10,
      numGpuBlocks: 10,
      schedulingPolicy: "shortest-remaining",
    },
    happened: (stats) => stats.prefix_cache_hits > 0 && stats.num_preemptions_total > 0,
  },
  WITH_DRAFTS,
  {
    name: "while the configuration changes",
    config: { runAhead: 2, maxNumBatchedTokens: 64, maxNumSeqs: 10, speculation: DRAFTS },
    changes: [
      { maxNumSeqs: 3, runAhead: 0 },
      { maxNumBatchedTokens: 10, longPrefillTokenThreshold: 7, speculation: null },
      { batchingMode: "sequential", schedulingPolicy: "shortest-remaining" },
      { batchingMode: null, maxNumSeqs: 10, maxNumBatchedTokens: 64, enablePrefixCaching: false },
      { runAhead: 4, longPrefillTokenThreshold: null, enablePrefixCaching: true, speculation: DRAFTS },
    ],
    happened: (stats) => stats.num_preemptions_total > 0 && stats.spec_decode_num_draft_tokens_total > 0,
  },
];

/** One round of it tells whether all holds; the circumstances above tell what does not. */
export const ALL_AT_ONCE: Circumstance = {
  name: "batched, in chunks of 7, three steps ahead, found in the prefix cache, and preempted",
  config: {
    runAhead: 3,
    maxNumBatchedTokens: 50,
    longPrefillTokenThreshold: 7,
    maxNumSeqs: 10,
    // The longest sequence of the fixtures' families, so that the kernels are those of a longer context.
    numGpuBlocks: 16,
    schedulingPolicy: "shortest-remaining",
  },
  happened: (stats) => shared(stats) && stats.prefix_cache_hits > 0 && stats.num_preemptions_total > 0,
};

/** For the first requests, which take fewer blocks: there is room for two or three. */
export const FEW_AT_ONCE: Circumstance = {
  ...ALL_AT_ONCE,
  config: { ...ALL_AT_ONCE.config, numGpuBlocks: 10 },
  happened: (stats) =>
    stats.step_sequences_total > 1.5 * stats.engine_steps_total &&
    stats.prefix_cache_hits > 0 &&
    stats.num_preemptions_total > 0,
};

/** For models that keep states: beside 640 blocks they have ten slots for them. */
export const STATES_AT_ONCE: Circumstance = {
  name: "batched, in chunks of 7, three steps ahead, found in the prefix cache",
  config: { ...ALL_AT_ONCE.config, maxNumSeqs: 6, numGpuBlocks: 640 },
  happened: (stats) => shared(stats) && stats.prefix_cache_hits > 0,
};

/** The same with drafts. Whether any is right is up to the model; with states, those of wrong ones go back. */
export function andDrafts({ name, config, happened }: Circumstance): Circumstance {
  return {
    name: `${name}, with drafts`,
    config: { ...config, speculation: DRAFTS },
    happened: (stats) => happened(stats) && stats.spec_decode_num_draft_tokens_total > 0,
  };
}
