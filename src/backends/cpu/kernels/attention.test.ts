import { describe, expect, it } from "vitest";

import { float16ToFloat32, float32ToFloat16 } from "../../../files/half.ts";
import { bitsOf, expectNear, randomNormals, testKernels } from "../../../../tests/cpu/cpu.ts";
import { attentionReference } from "../../../../tests/references/reference.ts";
import type { CpuMath } from "../../../protocol/config.ts";
import { headBlockBytes, type CacheShape } from "./cache-write.ts";

interface Case {
  readonly headSize: number;
  readonly blockSize: number;
  readonly queryHeads: number;
  readonly keyHeads: number;
  readonly window?: number;
  readonly cap?: number;
}

const LENGTH = 75;

/** A sequence of LENGTH positions in the cache, its blocks in no order. */
async function openCache(math: CpuMath, dtype: CacheShape["dtype"], shape: Case) {
  const { headSize, blockSize, queryHeads, keyHeads, window = LENGTH, cap: attentionCap = null } = shape;
  const cache: CacheShape = { dtype, headSize, blockSize };
  const queriesPerKey = queryHeads / keyHeads;
  const { kernels, put, take, floats } = await testKernels({ math, cache, queriesPerKey, attentionCap });
  const numBlocks = Math.ceil(LENGTH / blockSize);
  const blockBytes = keyHeads * headBlockBytes(cache);
  const [keys, values] = [take((numBlocks + 1) * blockBytes), take((numBlocks + 1) * blockBytes)];
  const order = Uint32Array.from({ length: numBlocks }, (_, i) => numBlocks - i);
  const table = put(order);
  const [k, v] = [1, 2].map((seed) => randomNormals(LENGTH * keyHeads * headSize, seed)) as [
    Float32Array,
    Float32Array,
  ];
  const q = randomNormals(LENGTH * queryHeads * headSize, 3);
  const [kAt, vAt, qAt] = [put(k), put(v), put(q)];
  const y = take(4 * queryHeads * headSize);
  const pitch = 4 * (LENGTH + 2 * blockSize);
  const scores = take(queryHeads * pitch);
  const rowBytes = 4 * keyHeads * headSize;

  return {
    k,
    v,
    q,
    write(position: number): void {
      const block = (order[Math.floor(position / blockSize)] ?? 0) * blockBytes;
      const row = position * rowBytes;
      kernels.cache_write(kAt + row, vAt + row, keys + block, values + block, position % blockSize, keyHeads);
    },
    /** y of the row at a position: of some heads a call, the last ones first, so that a call that writes too far shows. */
    attend(position: number, headsACall = queryHeads): Float32Array {
      const calls = Math.ceil(queryHeads / headsACall);
      for (let head = (calls - 1) * headsACall; head >= 0; head -= headsACall) {
        const offset = 4 * head * headSize;
        const keyHead = Math.floor(head / queriesPerKey) * headBlockBytes(cache);
        kernels.attend(
          qAt + 4 * position * queryHeads * headSize + offset,
          y + offset,
          keys + keyHead,
          values + keyHead,
          blockBytes,
          table,
          Math.max(0, position + 1 - window),
          position + 1,
          scores,
          pitch,
          Math.min(headsACall, queryHeads - head),
          head % queriesPerKey,
          1 / Math.sqrt(headSize),
        );
      }
      return floats(y, queryHeads * headSize);
    },
  };
}

const CASES: readonly Case[] = [
  { headSize: 4, blockSize: 16, queryHeads: 1, keyHeads: 1 },
  { headSize: 12, blockSize: 16, queryHeads: 5, keyHeads: 5 },
  { headSize: 64, blockSize: 16, queryHeads: 4, keyHeads: 2 },
  { headSize: 80, blockSize: 4, queryHeads: 6, keyHeads: 2 },
  { headSize: 20, blockSize: 12, queryHeads: 10, keyHeads: 2 },
  { headSize: 44, blockSize: 16, queryHeads: 14, keyHeads: 2, window: 33, cap: 0.3 },
  { headSize: 256, blockSize: 32, queryHeads: 4, keyHeads: 1, window: 20 },
  { headSize: 8, blockSize: 12, queryHeads: 3, keyHeads: 3, window: 1 },
];

describe.each(["f32", "f16"] as const)("a cache in %s", (dtype) => {
  it.each(CASES)(
    "is attended to as in float64: heads of $headSize, blocks of $blockSize, $queryHeads on $keyHeads",
    async (shape) => {
      const { headSize, queryHeads, keyHeads, window = LENGTH, cap } = shape;
      const kept = (values: Float32Array) =>
        dtype === "f32" ? values : float16ToFloat32(float32ToFloat16(Float32Array.from(values)));
      for (const math of ["portable", "fastest"] as const) {
        const cache = await openCache(math, dtype, shape);
        for (let position = 0; position < LENGTH; position++) cache.write(position);
        for (const position of [0, 1, 15, 16, 50, LENGTH - 1]) {
          const y = cache.attend(position);
          for (let head = 0; head < queryHeads; head++) {
            const keyHead = Math.floor((head * keyHeads) / queryHeads);
            const rowsOf = (from: Float32Array) =>
              Array.from({ length: position + 1 }, (_, p) => {
                const start = (p * keyHeads + keyHead) * headSize;
                return kept(from.subarray(start, start + headSize));
              }).slice(-window);
            const start = (position * queryHeads + head) * headSize;
            const query = cache.q.subarray(start, start + headSize);
            const expected = attentionReference(query, rowsOf(cache.k), rowsOf(cache.v), {
              scale: 1 / Math.sqrt(headSize),
              cap,
            });
            expectNear(y.subarray(head * headSize, (head + 1) * headSize), expected, 2e-6);
          }
        }
      }
    },
  );

  it.each([
    { queryHeads: 6, keyHeads: 6 },
    { queryHeads: 6, keyHeads: 3 },
    { queryHeads: 6, keyHeads: 2 },
    { queryHeads: 8, keyHeads: 2 },
    { queryHeads: 14, keyHeads: 2 },
  ])(
    "gives a row the same bits whatever was written after it, and whoever computes which heads: $queryHeads on $keyHeads",
    async ({ queryHeads, keyHeads }) => {
      for (const math of ["portable", "fastest"] as const) {
        const cache = await openCache(math, dtype, { headSize: 36, blockSize: 16, queryHeads, keyHeads });
        const alone = new Map<number, number[]>();
        for (let position = 0; position < LENGTH; position++) {
          cache.write(position);
          if (position % 9 === 0) alone.set(position, bitsOf(cache.attend(position, 1)));
        }
        for (const [position, bits] of alone) {
          for (const headsACall of [2, 3, 4, 5, queryHeads]) {
            expect(bitsOf(cache.attend(position, headsACall))).toEqual(bits);
          }
        }
      }
    },
  );
});
