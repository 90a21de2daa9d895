import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { ChorusEngine, CreateEngineOptions } from "../../../src/protocol/engine.ts";
import { BenchContext, type BenchContextParts } from "../bench-context.ts";
import { readBenchOptions } from "../bench-options.ts";
import { batchSizeSection } from "./batch-size.ts";

const ANSWER_MS = 100;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Answers as many requests at once as it may, each in the same time: what batching is at best. */
function idealEngine({ maxNumSeqs = 1 }: CreateEngineOptions): ChorusEngine {
  let running = 0;
  const waiting: (() => void)[] = [];
  const create = async () => {
    if (running < maxNumSeqs) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return (async function* () {
      await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
      yield { choices: [{ token_ids: [1, 2] }] };
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    })();
  };
  return {
    completions: { create },
    on: () => () => undefined,
    dispose: () => Promise.resolve(),
  } as unknown as ChorusEngine;
}

async function measure(query: string) {
  const opened: (number | undefined)[] = [];
  const options = readBenchOptions(new URLSearchParams(`model=tiny&repeats=2&${query}`));
  const context = new BenchContext({
    options,
    createEngine: (config: CreateEngineOptions) => {
      opened.push(config.maxNumSeqs);
      return Promise.resolve(idealEngine(config));
    },
    model: { contextLength: 512, vocabSize: 512 },
    signal: new AbortController().signal,
    onProgress: () => undefined,
  } as unknown as BenchContextParts);
  const state = { isDone: false };
  const measuring = batchSizeSection.run(context).finally(() => (state.isDone = true));
  while (!state.isDone) await vi.advanceTimersByTimeAsync(ANSWER_MS);
  return { opened, result: await measuring };
}

it("an ideal engine is as many times as fast as it has places and requests: its requests fill every batch", async () => {
  const { opened, result } = await measure("");
  expect(opened).toEqual([1, 2, 4, 8, 16]);
  const cells = result.cells ?? [];
  expect(cells.map((cell) => [cell.batch_size, cell.concurrency])).toEqual(
    [1, 2, 4, 8, 16].flatMap((size) => [1, 2, 4, 8, 16, 32].map((concurrency) => [size, concurrency])),
  );
  for (const cell of cells) {
    const places = Math.min(cell.batch_size, cell.concurrency ?? NaN);
    expect(cell).toMatchObject({ requests: 80, wall_ms: (80 * ANSWER_MS) / places, speed_up: places });
    expect(cell.efficiency).toBe(places / cell.batch_size);
  }
  const [chart] = result.charts ?? [];
  const ideal = [1, 2, 4, 8, 16].map((size) => [size, size]);
  expect(chart?.series).toEqual([
    { name: "measured", points: ideal },
    { name: "ideal", points: ideal },
  ]);
  expect(result.tables[0]?.rows).toHaveLength(30);
  expect(result.notes).toHaveLength(1);
});

it("quick: fewer of all, and one by one even where nobody asked for it", async () => {
  const { opened, result } = await measure("quick&sequences=4,8");
  expect(opened).toEqual([4, 8]);
  const cells = result.cells ?? [];
  expect(cells.map(({ concurrency }) => concurrency)).toEqual([1, 4, 8, 1, 4, 8]);
  expect(cells.map((cell) => [cell.requests, cell.speed_up])).toEqual([1, 4, 4, 1, 4, 8].map((times) => [40, times]));
});

it("says which batches its requests don't fill", async () => {
  const { result } = await measure("quick&sequences=16");
  expect(result.notes).toContain("40 requests don't fill the last batch of 16, which costs efficiency.");
});
