import { expect, it } from "vitest";

import { openBundledHelper } from "../../../../tests/cpu/bundled-helper.ts";
import { openCpuModel } from "../../../../tests/cpu/cpu-model.ts";
import { chooseThreads, fastestNumber } from "./choose-threads.ts";

const model = await openCpuModel({
  layers: 1,
  width: 64,
  heads: 4,
  keyHeads: 4,
  inner: 128,
  vocabSize: 96,
  context: 32,
  style: "gpt2",
  dtype: "f32",
  cacheDtype: "f32",
  math: "portable",
  maxRows: 8,
  maxSlots: 4,
  maxThreads: 2,
  isShared: true,
});

it("tries one thread and more, and takes some number of them", async () => {
  expect([1, 2]).toContain(await chooseThreads(model.plan, 2, () => openBundledHelper()));
});

it("takes one where the others can't begin", async () => {
  const broken = () => openBundledHelper("throw new Error('no thread today');");
  expect(await chooseThreads(model.plan, 2, broken)).toBe(1);
});

/** The choice and the trial's duration, on a clock where one step takes `msOf(threads, step)`. */
function chooseOnFakeClock(most: number, msOf: (threads: number, step: number) => number) {
  let nowMs = 0;
  let steps = 0;
  const tried = new Set<number>();
  const threads = fastestNumber(
    most,
    (number) => {
      tried.add(number);
      nowMs += msOf(number, steps++);
    },
    () => nowMs,
  );
  return { threads, tried: [...tried], trialMs: nowMs };
}

it.each([
  ["threads share the work without loss", 7, (threads: number) => 12 / threads, 7],
  ["each thread costs time to meet", 15, (threads: number) => 8 / threads + 0.4 * threads, 4],
  [
    "half of the cores are slow ones, for which the others wait",
    7,
    (threads: number) => (threads > 4 ? 5 : 8 / threads),
    4,
  ],
  ["memory bounds the step from two threads on", 15, (threads: number) => Math.max(4, 8 / threads), 2],
  ["more threads gain less than what is worth a core", 3, (threads: number) => 8 - 0.1 * threads, 1],
  ["others keep the cores busy", 3, (threads: number) => 2 * threads, 1],
])("takes as many threads as are fastest where %s", (_, most, msOf, expected) => {
  expect(chooseOnFakeClock(most, msOf).threads).toBe(expected);
});

it("is not misled by slow first steps, nor by one in three that is disturbed", () => {
  const disturbed = (threads: number, step: number) => 8 / threads + (step < 3 || step % 3 === 0 ? 20 : 0);
  expect(chooseOnFakeClock(7, disturbed).threads).toBe(7);
});

it("never tries more threads than it may use, and ends soon where steps are long", () => {
  const { tried, trialMs } = chooseOnFakeClock(15, () => 200);
  expect(tried).toEqual([1, 2, 4, 8, 15]);
  expect(trialMs).toBeLessThanOrEqual(5 * 2 * 200);
});
