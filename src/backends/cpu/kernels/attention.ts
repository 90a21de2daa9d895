// y[head, :] = sum over positions p of softmax_p(scale q[head, :] . keys[p, head / GROUP, :]) values[p, head / GROUP, :]
//
// One row and some of its query heads, causal and paged: positions `first` (0, or where a sliding window begins) to
// `length` - 1. All scores, then one softmax, then the values, so that a row's bits depend on its position alone. Blocks
// outside and heads inside: the cache streams as it lies (see cache-write.ts).
//
//   scores   scratch [heads][pitch bytes]: position 0 is that of the first block's first token
//
// Halves come out of the cache 2^112 times too small (see halves.ts). For keys, queries are 2^96 times larger and the scores
// then 2^16 times; for values, the weights are 2^112 times larger. None of it rounds.

import type { FunctionBuilder, Local, ParameterLocals } from "../wasm/function-builder.ts";
import { f32, f32x4, i32, i32x4, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { I32, Value, Vector } from "../wasm/value.ts";
import { FORBIDDEN, type Arithmetic } from "./arithmetic.ts";
import { headBlockBytes, valueBytes, type CacheShape } from "./cache-write.ts";
import { HALF_SCALE, movedHalfBits, movedHalves } from "./halves.ts";

export type Attend = (
  q: number,
  y: number,
  keys: number,
  values: number,
  blockBytes: number,
  table: number,
  first: number,
  length: number,
  scores: number,
  pitch: number,
  heads: number,
  groupHead: number,
  scale: number,
) => void;

const PARAMETERS = {
  q: "i32", // the first of the row's heads to compute, and so for y
  y: "i32",
  keys: "i32", // of block 0 and the first head's key head
  values: "i32",
  blockBytes: "i32", // of a block's keys, all heads
  table: "i32", // the slot's block ids
  first: "i32",
  length: "i32",
  scores: "i32",
  pitch: "i32",
  heads: "i32", // query heads to compute
  groupHead: "i32", // which of those that share a key head the first one is
  scale: "f32",
} as const;
type Locals = ParameterLocals<typeof PARAMETERS>;

const QUERY_SCALE = 2 ** 96;
const SCORE_SCALE = HALF_SCALE / QUERY_SCALE;
/** Vectors of sums that stay in registers. */
const MAX_SUMS = 8;
const VECTOR_BYTES = 16;

/** @param queriesAKey query heads that share a key head */
export function defineAttention(module: ModuleBuilder, math: Arithmetic, cache: CacheShape, queriesAKey: number): void {
  module.function("attend", PARAMETERS, (f, locals) => {
    const { blockSize } = cache;
    const { first, length, table } = locals;
    const skippedBlocks = f.i32(i32.divU(first, blockSize));
    f.increment(table, i32.mul(skippedBlocks, 4));
    first.set(i32.sub(first, i32.mul(skippedBlocks, blockSize)));
    length.set(i32.sub(length, i32.mul(skippedBlocks, blockSize)));
    const walk: Walk = { f, math, cache, queriesAKey, locals };
    computeScores(walk);
    softmax(walk);
    addValues(walk);
  });
}

interface Walk {
  readonly f: FunctionBuilder;
  readonly math: Arithmetic;
  readonly cache: CacheShape;
  readonly queriesAKey: number;
  readonly locals: Locals;
}

/** For each block, for each head: `body` with the head's part of the block in the cache. */
function eachBlock(
  { f, cache, queriesAKey, locals }: Walk,
  start: Local<"i32">,
  body: (block: { readonly at: Local<"i32">; readonly head: Local<"i32">; readonly position: Local<"i32"> }) => void,
): void {
  const { blockBytes, table, length, heads, groupHead } = locals;
  const tableAt = f.i32(table);
  f.for(0, length, cache.blockSize, (position) => {
    const at = f.i32(i32.add(start, i32.mul(i32.load(tableAt), blockBytes)));
    const inGroup = f.i32(groupHead);
    f.for(0, heads, 1, (head) => {
      body({ at, head, position });
      f.increment(inGroup, 1);
      f.if(i32.eq(inGroup, queriesAKey), () => {
        inGroup.set(0);
        f.increment(at, headBlockBytes(cache));
      });
    });
    f.increment(tableAt, 4);
  });
}

/** Four cached values, `index` after the pointer. */
function fourCached(cache: CacheShape, pointer: I32, index: number, halfBits: Vector): Vector {
  if (cache.dtype === "f32") return v128.load(pointer, 4 * index);
  return movedHalves(i32x4.shl(v128.load16x4U(pointer, 2 * index), 16), halfBits);
}

/** scores[head, position] of whole blocks; two chains a token, of even and of odd dimensions. */
function computeScores(walk: Walk): void {
  const { f, math, cache, locals } = walk;
  const { q, keys, scores, pitch, scale } = locals;
  const { headSize, blockSize } = cache;
  const isHalf = cache.dtype === "f16";
  const halfBits = movedHalfBits(f);
  const scales = f.v128(f32x4.splat(isHalf ? f32.mul(scale, SCORE_SCALE) : scale));
  const splat = f.v128();
  const sums = f.vectors(MAX_SUMS);
  eachBlock(walk, keys, ({ at, head, position }) => {
    const out = f.i32(i32.add(i32.add(scores, i32.mul(head, pitch)), i32.mul(position, 4)));
    for (let token = 0; token < blockSize; token += 2 * MAX_SUMS) {
      const vectors = Math.min(MAX_SUMS / 2, (blockSize - token) / 4);
      for (const sum of sums.slice(0, 2 * vectors)) sum.set(0);
      const key = f.i32(at);
      const query = f.i32(i32.add(q, i32.mul(head, 4 * headSize)));
      f.for(0, headSize, 4, () => {
        for (let d = 0; d < 4; d++) {
          splat.set(v128.load32Splat(query, 4 * d));
          if (isHalf) splat.set(f32x4.mul(splat, QUERY_SCALE));
          for (let i = 0; i < vectors; i++) {
            const sum = sums[(d & 1) * vectors + i] ?? splat;
            sum.set(math.madd(fourCached(cache, key, d * blockSize + token + 4 * i, halfBits), splat, sum));
          }
        }
        f.increment(key, 4 * blockSize * valueBytes(cache));
        f.increment(query, VECTOR_BYTES);
      });
      for (let i = 0; i < vectors; i++) {
        const score = f32x4.add(sums[i] ?? splat, sums[vectors + i] ?? splat);
        f.storeV128(out, f32x4.mul(score, scales), 4 * token + VECTOR_BYTES * i);
      }
    }
  });
}

/** From scores to weights, of each head. What lies outside of first .. length - 1 weighs nothing. */
function softmax({ f, math, cache, locals }: Walk): void {
  const { first, length, scores, pitch, heads } = locals;
  const bytes = f.i32(i32.mul(length, 4));
  const padded = f.i32(i32.and(i32.add(bytes, 15), -16));
  const highest = f.v128();
  const total = f.v128();
  f.for(0, heads, 1, (head) => {
    const row = f.i32(i32.add(scores, i32.mul(head, pitch)));
    f.for(0, i32.mul(first, 4), 4, (i) => f.storeF32(i32.add(row, i), FORBIDDEN));
    f.for(bytes, padded, 4, (i) => f.storeF32(i32.add(row, i), FORBIDDEN));
    highest.set(FORBIDDEN);
    f.for(0, padded, VECTOR_BYTES, (i) => highest.set(f32x4.pmax(highest, v128.load(i32.add(row, i)))));
    highest.set(f32x4.splat(math.maxOfLanes(highest)));
    total.set(0);
    f.for(0, padded, VECTOR_BYTES, (i) => {
      const weight = math.exp(f, f32x4.sub(v128.load(i32.add(row, i)), highest));
      f.storeV128(i32.add(row, i), weight);
      total.set(f32x4.add(total, weight));
    });
    const one = cache.dtype === "f16" ? HALF_SCALE : 1;
    total.set(f32x4.splat(f32.div(one, math.sumOfLanes(total))));
    f.for(0, padded, VECTOR_BYTES, (i) => f.storeV128(i32.add(row, i), f32x4.mul(v128.load(i32.add(row, i)), total)));
  });
}

/** Adds the values, block by block; outputs wait in y in between. */
function addValues(walk: Walk): void {
  const { f, math, cache, locals } = walk;
  const { y, values, scores, pitch, heads, length } = locals;
  const { headSize, blockSize } = cache;
  const halfBits = movedHalfBits(f);
  const sums = f.vectors(MAX_SUMS);
  const splat = f.v128();
  f.for(0, i32.mul(heads, 4 * headSize), VECTOR_BYTES, (i) => f.storeV128(i32.add(y, i), 0));
  eachBlock(walk, values, ({ at, head, position }) => {
    const output = f.i32(i32.add(y, i32.mul(head, 4 * headSize)));
    const weights = f.i32(i32.add(i32.add(scores, i32.mul(head, pitch)), i32.mul(position, 4)));
    const left = f.i32(i32.sub(length, position));
    const tokens: Value<"i32"> = i32.select(i32.ltU(left, blockSize), left, blockSize);
    const weightsEnd = f.i32(i32.add(weights, i32.mul(tokens, 4)));
    for (let d = 0; d < headSize; d += 4 * MAX_SUMS) {
      const mine = sums.slice(0, Math.min(MAX_SUMS, (headSize - d) / 4));
      mine.forEach((sum, i) => sum.set(v128.load(output, 4 * d + VECTOR_BYTES * i)));
      const value = f.i32(at);
      f.for(weights, weightsEnd, 4, (weight) => {
        splat.set(v128.load32Splat(weight));
        mine.forEach((sum, i) => sum.set(math.madd(fourCached(cache, value, d + 4 * i, halfBits), splat, sum)));
        f.increment(value, headSize * valueBytes(cache));
      });
      mine.forEach((sum, i) => f.storeV128(output, sum, 4 * d + VECTOR_BYTES * i));
    }
  });
}
