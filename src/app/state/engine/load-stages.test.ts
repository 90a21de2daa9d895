import { expect, it } from "vitest";
import { advanceStages, currentStage, NOTHING_LOADED, shareLoaded } from "./load-stages.ts";

it("tells the time left from the rate so far, once it has seen enough", () => {
  let stages = advanceStages(NOTHING_LOADED, { stage: "weights", done: 0, total: 100 }, 1000);
  stages = advanceStages(stages, { stage: "weights", done: 10, total: 100 }, 1100);
  expect(stages.weights.msLeft).toBeNull();
  stages = advanceStages(stages, { stage: "weights", done: 25, total: 100 }, 2000);
  expect(stages.weights).toMatchObject({ status: "now", msLeft: 3000 });
  stages = advanceStages(stages, { stage: "weights", done: 100, total: 100 }, 5000);
  expect(stages.weights).toMatchObject({ status: "done", msLeft: null });
});

it("measures a second attempt by itself", () => {
  let stages = advanceStages(NOTHING_LOADED, { stage: "memory", done: 50, total: 100 }, 1000);
  stages = advanceStages(stages, { stage: "memory", done: 1, total: 100 }, 61_000);
  expect(stages.memory.msLeft).toBeNull();
  stages = advanceStages(stages, { stage: "memory", done: 50, total: 100 }, 62_000);
  expect(stages.memory.msLeft).toBe(1000);
});

it("keeps what was found when a later report of the stage says nothing", () => {
  const found = advanceStages(NOTHING_LOADED, { stage: "adapter", done: 0, total: 1, detail: "Apple M3" }, 0);
  expect(advanceStages(found, { stage: "adapter", done: 1, total: 1 }, 1).adapter.detail).toBe("Apple M3");
});

it("adds the stages up to one share, in which the weights' bytes are half", () => {
  expect(shareLoaded(NOTHING_LOADED)).toBe(0);
  let stages = advanceStages(NOTHING_LOADED, { stage: "weights", done: 0, total: 0 }, 0);
  expect(shareLoaded(stages)).toBe(0);
  stages = advanceStages(stages, { stage: "weights", done: 134e6, total: 268e6 }, 0);
  expect(shareLoaded(stages)).toBe(0.25);
  for (const stage of ["adapter", "tokenizer", "weights", "memory", "kernels", "cache"] as const) {
    stages = advanceStages(stages, { stage, done: 7, total: 7 }, 1);
  }
  expect(shareLoaded(stages)).toBe(1);
});

it("names the stage that is under way, else the next one", () => {
  expect(currentStage(NOTHING_LOADED)).toBe("adapter");
  const stages = advanceStages(NOTHING_LOADED, { stage: "kernels", done: 1, total: 48 }, 0);
  expect(currentStage(stages)).toBe("kernels");
});
