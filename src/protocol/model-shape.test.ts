import { expect, test } from "vitest";
import { kvBytesPerBlock } from "./model-shape.ts";

const small = { numLayers: 4, numKvHeads: 3, headDim: 64 };

test("a cache block holds keys and values of every layer and head", () => {
  expect(kvBytesPerBlock(small, { kvCacheDtype: "f16", blockSize: 16 })).toBe(2 * 4 * 3 * 64 * 16 * 2);
  expect(kvBytesPerBlock(small, { kvCacheDtype: "f32", blockSize: 16 })).toBe(2 * 4 * 3 * 64 * 16 * 4);
});

test("a head's row is padded to a multiple of 4", () => {
  const padded = kvBytesPerBlock({ ...small, headDim: 16 }, { kvCacheDtype: "f32", blockSize: 16 });
  expect(kvBytesPerBlock({ ...small, headDim: 13 }, { kvCacheDtype: "f32", blockSize: 16 })).toBe(padded);
});
