// Beam search held to Hugging Face's: all runs of the fixtures at once, beside requests that are drawn.

import { describe, expect, it } from "vitest";

import { createEngine, type ChorusEngine } from "../../src/index.ts";
import { loadGolden } from "../models/golden.ts";
import { withCommonDevice } from "../gpu/one-device.ts";

const golden = await loadGolden("gpt2-tiny");
const ALL_RUNS = golden.prompts.flatMap(({ name, ids, beam }) =>
  (beam?.runs ?? []).map((run) => ({ name, ids, ...run })),
);

/**
 * A log-probability of these models is off by some 1e-6: logits are f32 sums of about 10, in another order than Hugging
 * Face's. A score is a sum of at most 16 of them, and with a penalty of -1 it is multiplied by the length.
 */
const TOLERANCE = 1e-5;

async function search(engine: ChorusEngine, run: (typeof ALL_RUNS)[number], changes: object = {}) {
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

const onGpu = { worker: false, gpu: await withCommonDevice() } as const;

describe.each(["webgpu", "cpu"] as const)("on %s", (backend) => {
  // Beams are above the backends, and a software GPU is slow: there every third will do.
  const RUNS = ALL_RUNS.filter((_, i) => backend === "cpu" || i % 3 === 0);
  const options = {
    backend,
    ...(backend === "webgpu" && onGpu),
    model: "/tests/fixtures/gpt2-tiny/",
    dtype: "f32",
    kvCacheDtype: "f32",
    maxNumSeqs: 64,
    numGpuBlocks: 512,
    // All searches begin at once, whoever streams.
    maxStepStretch: 1000,
  } as const;

  it("finds the golden runs' sequences and scores, all at once and beside others", async () => {
    expect(RUNS).toHaveLength(backend === "cpu" ? 45 : 15);
    await using engine = await createEngine(options);
    const drawn = { prompt: [1, 2, 3], max_tokens: 100, ignore_eos: true, seed: 5, return_token_ids: true };
    const alone = await engine.completions.create(drawn);
    const [beside, ...found] = await Promise.all([
      engine.completions.create(drawn),
      ...RUNS.map((run) => search(engine, run)),
    ]);
    expect(beside?.choices[0]?.token_ids).toEqual(alone.choices[0]?.token_ids);

    for (const [i, run] of RUNS.entries()) {
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
    expect(stats.step_sequences_total).toBeGreaterThan((RUNS.length / 6) * stats.engine_steps_total);
    expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
  });

  it("finds the same to the last bit in a crowd that takes its blocks, and under rules", async () => {
    const requests = RUNS.filter(({ eos_token_id }) => eos_token_id !== null)
      .filter((_, i) => i % (backend === "cpu" ? 6 : 2) === 0)
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

  it("streams its answers when they are found", async () => {
    await using engine = await createEngine(options);
    const run = RUNS[4];
    if (!run) throw new Error("no run");
    const whole = await search(engine, run);
    const texts = whole.map(() => "");
    const request = { prompt: run.ids, use_beam_search: true, n: 4, length_penalty: run.length_penalty };
    const rest = { max_tokens: 16, ignore_eos: true, stop_token_ids: [run.eos_token_id ?? 0] };
    const scores: unknown[] = [];
    for await (const { choices } of await engine.completions.create({ ...request, ...rest, stream: true })) {
      for (const { index, text, finish_reason, beam_score } of choices) {
        texts[index] += text;
        if (finish_reason !== null) scores[index] = beam_score;
      }
    }
    expect(texts).toEqual(whole.map(({ text }) => text));
    expect(scores).toEqual(whole.map(({ beam_score }) => beam_score));
  });

  it("says what would do where the beams can't run together", async () => {
    await using engine = await createEngine({ ...options, maxNumSeqs: 3 });
    const refusal = engine.completions.create({ prompt: [1], use_beam_search: true, best_of: 4, max_tokens: 4 });
    await expect(refusal).rejects.toMatchObject({ code: "invalid_value", param: "best_of" });
  });
});
