// Every two values of two of the config's fields, beside each other: unlike requests that come at once get what each gets alone
// under the defaults, to the last bit.

import { readFileSync } from "node:fs";
import { afterAll, expect, it } from "vitest";

import { createEngine, type ChorusEngine, type EngineConfig } from "../../index.ts";
import { REQUESTS, type Request } from "../../../tests/requests/exactness.ts";
import { pairwise } from "../../../tests/requests/pairwise.ts";

const model = ["config.json", "tokenizer.json", "model.safetensors"].map(
  (name) => new File([readFileSync(`tests/fixtures/llama-tiny/tied/${name}`)], name),
);
const DRAFTS: EngineConfig["speculation"][] = [
  null,
  { method: "ngram", num_speculative_tokens: 16, minMatch: 2 },
  { method: "draft_model", model, num_speculative_tokens: 3 },
];

/** What is fixed while an engine runs. */
const FIXED = [
  { numGpuBlocks: 8, logprobsMode: "raw_logprobs" },
  { numGpuBlocks: 20, logprobsMode: "processed_logprobs" },
  { numGpuBlocks: 2000, logprobsMode: "raw_logprobs" },
] as const;
const ROWS = pairwise<unknown>({
  fixed: FIXED,
  maxNumSeqs: [3, 64],
  maxNumBatchedTokens: [64, 65, 256],
  runAhead: [0, 1, 4],
  speculation: DRAFTS,
  enablePrefixCaching: [true, false],
  batchingMode: ["continuous", "static", "sequential"],
  schedulingPolicy: ["fcfs", "priority", "shortest-remaining", "balanced"],
  longPrefillTokenThreshold: [0, 7],
  maxStepStretch: [1, 1000],
  targetItlMs: [null, 0.01],
});

const [greedy, drawn, filtered, penalised] = REQUESTS;
const UNLIKE: readonly Request[] = [
  { ...greedy!, max_tokens: 12, priority: 3 },
  { ...drawn!, max_tokens: 8, logprobs: 2 },
  { ...filtered!, max_tokens: 7 },
  { ...penalised!, max_tokens: 9, priority: -1 },
  { prompt: [3, 5, 8, 13, 21], n: 3, temperature: 1, seed: 4, max_tokens: 7 },
  { prompt: [3, 5, 8, 13, 21, 34], use_beam_search: true, best_of: 3, n: 2, temperature: 0, max_tokens: 5 },
  { prompt: [1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2], temperature: 0, max_tokens: 12, logprobs: 0 },
  {
    prompt: Array.from({ length: 40 }, (_, i) => (i * i) % 97),
    echo: true,
    max_tokens: 1,
    prompt_logprobs: 1,
    seed: 1,
  },
].map((request) => ({ ...request, ignore_eos: true, return_token_ids: true }));

async function answer(engine: ChorusEngine, request: Request): Promise<unknown> {
  const { choices } = await engine.completions.create(request);
  return choices.map(({ token_ids: ids, ...rest }) => [
    ids,
    rest.logprobs?.token_logprobs,
    rest.finish_reason,
    rest.text,
  ]);
}

/** Engines by what is fixed, and what each answers when nothing is beside and nothing is set. */
const opened = new Map<unknown, { engine: ChorusEngine; alone: unknown[] }>();

async function open(fixed: EngineConfig) {
  const room = { maxNumSeqs: 64, maxNumBatchedTokens: 256, speculation: DRAFTS.at(-1) ?? null };
  const engine = await createEngine({
    model,
    worker: false,
    backend: "cpu",
    cpuThreads: 1,
    dtype: "f32",
    batchWindowMs: 0,
    ...room,
    ...fixed,
  });
  await engine.update({ speculation: null, runAhead: 0, enablePrefixCaching: false });
  const alone = [];
  for (const request of UNLIKE) alone.push(await answer(engine, request));
  const one = { engine, alone };
  opened.set(fixed, one);
  return one;
}
afterAll(() => Promise.all([...opened.values()].map(({ engine }) => engine.dispose())));

it.each(ROWS.map((row) => [JSON.stringify({ ...row, speculation: DRAFTS.indexOf(row["speculation"] as null) }), row]))(
  "answers are what they are alone: %s",
  async (_, { fixed, ...changes }) => {
    const { engine, alone } = opened.get(fixed) ?? (await open(fixed as EngineConfig));
    await engine.update(changes);
    // Twice: the second time the prefix cache knows what there is to know.
    for (let round = 0; round < 2; round++) {
      expect(await Promise.all(UNLIKE.map((request) => answer(engine, request)))).toEqual(alone);
    }
    const { num_gpu_blocks: all, num_gpu_blocks_free: free, num_requests_running: running } = await engine.stats();
    expect([free, running]).toEqual([all, 0]);
  },
);
