import { expect, it } from "vitest";

import { classOf, costOf, type StepShape } from "./kernel-cost.ts";

const DECODE: StepShape = { rows: 4, samples: 4, context: 100, cachedPositions: 400 };

it("a product moves its weights once, and each row in and out", () => {
  const pipeline = { name: "matmul-lane", constants: { K4: 64, N4: 192, SAMPLES_ONLY: 0 } };
  const cost = costOf(pipeline, [9999, 256 * 768 * 2, 1, 1, 1], DECODE);
  expect(cost).toEqual({ bytes: 256 * 768 * 2 + 4 * 4 * (256 + 768), flops: 2 * 4 * 256 * 768 });
});

it("a gate's product writes half as many columns as it sums up", () => {
  const pipeline = { name: "matmul-lane", constants: { K4: 64, N4: 192, Y4: 96 } };
  expect(costOf(pipeline, [0, 1000], DECODE)?.bytes).toBe(1000 + 4 * 4 * (256 + 384));
});

it("the head's product has rows for what samples only", () => {
  const pipeline = { name: "matmul-row", constants: { K4: 64, N4: 1024, SAMPLES_ONLY: 1 } };
  expect(costOf(pipeline, [0, 100], { ...DECODE, rows: 32, samples: 1 })?.flops).toBe(2 * 256 * 4096);
  expect(classOf(pipeline)).toBe("head and sampling");
});

it("attention reads the keys and values of each sequence once", () => {
  const pipeline = { name: "attention", constants: { HEADS: 12, HEAD_SIZE: 64, HEAD_VEC4: 16, CACHE_F16: 1 } };
  const cost = costOf(pipeline, [], DECODE);
  expect(cost?.bytes).toBe(400 * 2 * 12 * 64 * 2 + 4 * 2 * 4 * 12 * 64);
  expect(cost?.flops).toBe(4 * 4 * 100 * 12 * 64);
});

it("attention of a group's query heads reads one head of keys and values, and not beyond its window", () => {
  const constants = { HEADS: 9, KV_HEADS: 3, HEAD_SIZE: 64, HEAD_VEC4: 16, CACHE_F16: 1, WINDOW: 25 };
  const cost = costOf({ name: "attention", constants }, [], DECODE);
  expect(cost?.bytes).toBe(100 * 2 * 3 * 64 * 2 + 4 * 2 * 4 * 9 * 64);
  expect(cost?.flops).toBe(4 * 4 * 25 * 9 * 64);
});

it("of kernels that are no matter of bytes or additions nothing is said", () => {
  expect(costOf({ name: "matmul-any", constants: { WEIGHTS_DTYPE: 0 } }, [0, 100], DECODE)).toBeNull();
  expect(costOf({ name: "layer-norm", constants: { WIDTH: 256 } }, [], DECODE)).toBeNull();
  expect(classOf({ name: "layer-norm", constants: {} })).toBe("the rest");
  expect(classOf({ name: "sample", constants: {} })).toBe("head and sampling");
});
