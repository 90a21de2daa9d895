// Beam search held to Hugging Face's, for any backend: golden runs of the fixtures at once, beside requests that are drawn.

import { expect, it } from "vitest";

import { createEngine, type ChorusEngine, type CreateEngineOptions } from "../../src/index.ts";
import type { GoldenPrompt } from "../models/golden.ts";

/**
 * A log-probability of these models is off by some 1e-6: logits are f32 sums of about 10, in another order than Hugging
 * Face's. A score is a sum of at most 16 of them, and with a penalty of -1 it is multiplied by the length.
 */
const TOLERANCE = 1e-5;

export const BEAM_CONFIG = {
  dtype: "f32",
  kvCacheDtype: "f32",
  maxNumSeqs: 64,
  numGpuBlocks: 512,
  // All searches begin at once, whoever streams.
  maxStepStretch: 1000,
} as const;

type BeamRun = ReturnType<typeof beamRunsOf>[number];

export function beamRunsOf(prompts: readonly Pick<GoldenPrompt, "name" | "ids" | "beam">[]) {
  return prompts.flatMap(({ name, ids, beam }) => (beam?.runs ?? []).map((run) => ({ name, ids, ...run })));
}

export async function search(engine: ChorusEngine, run: BeamRun, changes: object = {}) {
  const { choices } = await engine.completions.create({
    prompt: run.ids,
    use_beam_search: true,
    n: 4,
    length_penalty: run.length_penalty,
    early_stopping: run.early_stopping,
    max_tokens: run.max_new_tokens,
    ignore_eos: true,
    stop_token_ids: run.eos_token_id === null ? [] : [run.eos_token_id],
    return_token_ids: true,
    ...changes,
    stream: false,
  });
  return choices;
}

/** Tests that an engine finds them. @param everyNth of them is searched for by itself, too */
export function itFindsRuns(runs: readonly BeamRun[], options: CreateEngineOptions, everyNth: number): void {
  it("finds the golden runs' sequences and scores, all at once and beside others", async () => {
    await using engine = await createEngine(options);
    const drawn = { prompt: [1, 2, 3], max_tokens: 100, ignore_eos: true, seed: 5, return_token_ids: true };
    const alone = await engine.completions.create(drawn);
    const [beside, ...found] = await Promise.all([
      engine.completions.create(drawn),
      ...runs.map((run) => search(engine, run)),
    ]);
    expect(beside?.choices[0]?.token_ids).toEqual(alone.choices[0]?.token_ids);

    for (const [i, run] of runs.entries()) {
      const choices = found[i] ?? [];
      expect(choices.map(({ token_ids }) => token_ids)).toEqual(run.sequences);
      for (const [j, { beam_score }] of choices.entries()) {
        const score = run.scores[j] ?? NaN;
        expect(Math.abs((beam_score ?? NaN) - score)).toBeLessThan(TOLERANCE * Math.max(1, Math.abs(score)));
      }
      const ended = choices.map(({ token_ids }) => token_ids?.at(-1) === run.eos_token_id);
      expect(choices.map(({ finish_reason }) => finish_reason)).toEqual(ended.map((is) => (is ? "stop" : "length")));
    }
    const stats = await engine.stats();
    expect(stats.step_sequences_total).toBeGreaterThan((runs.length / 6) * stats.engine_steps_total);
    expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
  });

  it("finds the same to the last bit in a crowd that takes its blocks, and under rules", async () => {
    const requests = runs
      .filter(({ eos_token_id }) => eos_token_id !== null)
      .filter((_, i) => i % everyNth === 0)
      .map((run, i) => ({
        run,
        changes: i % 2 === 0 ? {} : { no_repeat_ngram_size: 2, repetition_penalty: 1.3, min_tokens: 4 },
      }));
    const bits = (choices: Awaited<ReturnType<typeof search>>) =>
      choices.map(({ token_ids, beam_score }) => [token_ids, beam_score]);

    const alone = [];
    {
      await using engine = await createEngine({ ...options, enablePrefixCaching: false });
      for (const { run, changes } of requests) alone.push(bits(await search(engine, run, changes)));
    }
    for (const [i, { changes }] of requests.entries()) {
      if (!("no_repeat_ngram_size" in changes)) continue;
      for (const [tokens] of alone[i] ?? []) {
        if (!Array.isArray(tokens)) throw new Error("no tokens");
        const all = [...(requests[i]?.run.ids ?? []), ...tokens];
        const pairs = all.slice(1).map((token, at) => `${all[at]},${token}`);
        expect(new Set(pairs).size).toBe(pairs.length);
        expect(tokens.length).toBeGreaterThan(4);
      }
    }
    await using engine = await createEngine({ ...options, numGpuBlocks: 17, maxNumSeqs: 24, maxNumBatchedTokens: 24 });
    const together = await Promise.all(requests.map(({ run, changes }) => search(engine, run, changes)));
    expect(together.map(bits)).toEqual(alone);
    expect((await engine.stats()).num_preemptions_total).toBeGreaterThan(0);
  });
}
