// An engine whose configuration changes while it runs.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ChorusEngine } from "../protocol/engine.ts";
import type { EngineChanges } from "../protocol/live-config.ts";
import type { EngineStats, StepReport } from "../protocol/reports.ts";
import { openFakeModel } from "../../tests/fakes/fake-model.ts";

const CONFIG = { maxNumSeqs: 8, maxNumBatchedTokens: 64, numGpuBlocks: 64, seed: 1 } as const;
let engine: ChorusEngine;
beforeAll(async () => {
  ({ engine } = await openFakeModel(CONFIG));
});
afterAll(() => engine.dispose());

const ask = (seed: number, max_tokens = 24) =>
  engine.completions.create({
    prompt: Array.from({ length: 20 }, (_, i) => (seed + i) % 50),
    max_tokens,
    seed,
    temperature: 1,
    logprobs: 1,
    ignore_eos: true,
    return_token_ids: true,
  });
const SEEDS = [1, 2, 3, 4, 5, 6];
const answers = async () => (await Promise.all(SEEDS.map((seed) => ask(seed)))).map(({ choices }) => choices);

test("changes in mid-run leave each token and each log-probability as they are, and every step follows them", async () => {
  const undisturbed = await answers();
  const changes: EngineChanges[] = [
    { maxNumSeqs: 2 },
    { runAhead: 0, maxNumBatchedTokens: 3 },
    { schedulingPolicy: "balanced", maxNumSeqs: 8, maxNumBatchedTokens: 64 },
    { enablePrefixCaching: false, longPrefillTokenThreshold: 5 },
    { batchingMode: "sequential", speculation: { method: "ngram", num_speculative_tokens: 1, minMatch: 1 } },
    { batchingMode: "static", batchWindowMs: 0, enablePrefixCaching: true },
    { batchingMode: null, speculation: null, runAhead: 4, maxStepStretch: 1, targetItlMs: 1 },
  ];
  const steps: StepReport[] = [];
  const off = engine.on("step", (step) => {
    steps.push(step);
    const change = changes[steps.length / 4 - 1];
    if (change) void engine.update(change);
  });
  const disturbed = await answers();
  off();
  expect(steps.length).toBeGreaterThan(4 * changes.length);
  expect(disturbed).toEqual(undisturbed);
  expect(new Set(steps.map(({ maxNumSeqs }) => maxNumSeqs))).toEqual(new Set([8, 2]));
  for (const { maxNumBatchedTokens, rows } of steps) expect(rows).toBeLessThanOrEqual(Math.max(8, maxNumBatchedTokens));
  await engine.update({ runAhead: null, longPrefillTokenThreshold: null, maxStepStretch: null, targetItlMs: null });
  await engine.update({ schedulingPolicy: null, batchWindowMs: null });
});

test("fewer sequences at once: the last ones wait again from the next step on, and more go on", async () => {
  const running: number[] = [];
  const stats: Promise<EngineStats>[] = [];
  const off = engine.on("step", ({ entries }) => {
    running.push(entries.length);
    if (running.length === 10) void engine.update({ maxNumSeqs: 2 });
    if (running.length === 18) stats.push(engine.stats());
    if (running.length === 20) void engine.update({ maxNumSeqs: 8 });
  });
  await Promise.all(SEEDS.map((seed) => ask(seed, 40)));
  off();
  expect(running[9]).toBe(6);
  // Steps that were in flight still have all.
  expect(running.slice(13, 20)).toEqual(Array(7).fill(2));
  expect(running.slice(23)).toContain(6);
  expect(await stats[0]).toMatchObject({ max_num_seqs: 2, slot_usage_perc: 1, num_requests_waiting: 4 });
});

describe("the configuration", () => {
  test("is told as it is now, to whoever asks and to whoever listens", async () => {
    const received: number[] = [];
    const off = engine.on("config", ({ maxQueueSize }) => received.push(maxQueueSize));
    expect(await engine.update({ maxQueueSize: 0 })).toMatchObject({ maxQueueSize: 0, maxNumSeqs: 8, seed: 1 });
    expect(engine.config.maxQueueSize).toBe(0);
    const refused = engine.completions.create({ prompt: Array.from({ length: 9 }, () => "A"), max_tokens: 1 });
    await expect(refused).rejects.toMatchObject({ param: "n" });
    await engine.update({ maxQueueSize: null });
    expect(received).toEqual([0, Infinity]);
    off();
  });

  test.each<[string, object, string]>([
    ["more sequences", { maxNumSeqs: 9 }, "maxNumSeqs"],
    ["more tokens in a step", { maxNumBatchedTokens: 65 }, "maxNumBatchedTokens"],
    ["more drafts", { speculation: { method: "ngram", num_speculative_tokens: 4 } }, "speculation"],
    ["a draft model", { speculation: { method: "draft_model", model: "a/b" } }, "speculation.model"],
    ["another cache", { numGpuBlocks: 32 }, "numGpuBlocks"],
    ["another format of the weights", { dtype: "q4" }, "dtype"],
    ["a value that none may have", { runAhead: 5 }, "runAhead"],
    ["a field that none has", { maxSequences: 4 }, "maxSequences"],
    ["something valid beside something that is not", { maxNumSeqs: 2, runAhead: -1 }, "runAhead"],
  ])("of a running engine can't have %s: the field is named, and nothing changes", async (_, changes, param) => {
    const before = engine.config;
    await expect(engine.update(changes)).rejects.toMatchObject({ param });
    expect(engine.config).toEqual(before);
    expect((await engine.stats()).max_num_seqs).toBe(8);
  });
});
