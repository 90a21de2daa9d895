// y[head, :] = sum over positions p of softmax_p(scale q[head, :] . keys[p, head / GROUP, :]) values[p, head / GROUP, :]
//
// One row and some of its query heads, causal and paged: positions `first` (0, or where a sliding window begins) to
// `length` - 1. All scores, then one softmax, then the values, so that a row's bits depend on its position alone. Blocks
// outside and heads inside: the cache is read in its own order (see cache-write.ts). Heads that share a key head are computed in
// tiles: each key and each value is loaded once for a tile. A head's sums do not depend on its tile, and so a
// call may begin and end within a group.
//
//   scores   scratch [heads][pitch bytes]: position 0 is that of the first block's first token
//
// Halves come out of the cache 2^112 times too small (see halves.ts). For keys, queries are 2^96 times larger and the scores
// then 2^16 times; for values, the weights are 2^112 times larger. None of it rounds.

import type { FunctionBuilder, Local, ParameterLocals } from "../wasm/function-builder.ts";
import { f32, f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { I32, Value, Vector } from "../wasm/value.ts";
import { FORBIDDEN, type Arithmetic } from "./arithmetic.ts";
import { headBlockBytes, valueBytes, type CacheShape } from "./cache-write.ts";
import { extendedHalves, HALF_SCALE, movedHalfBits } from "./halves.ts";
import { TileRegisters } from "./register-tile.ts";
import { KERNELS } from "./signatures.ts";

type Locals = ParameterLocals<typeof KERNELS.attend>;

const QUERY_SCALE = 2 ** 96;
const SCORE_SCALE = HALF_SCALE / QUERY_SCALE;
/** Chains of additions per score. */
const CHAINS = 2;
/** Most heads of a tile. Four are faster where loads take work, as those of halves do, and slower with f32. */
const MAX_HEADS = { f32: 3, f16: 4 };
/** Vectors of tokens that are scored at once, for tiles of 1 to 4 heads. Their sums stay in registers. */
const SCORE_VECTORS = [4, 2, 2, 1];
/** Vectors of a value that are added at once, likewise. */
const VALUE_VECTORS = [8, 4, 3, 2];
const VECTOR_BYTES = 16;

interface AttentionOptions {
  readonly queriesPerKey: number;
  /** Scores s become cap tanh(s / cap). [null] */
  readonly attentionCap?: number | null;
}

export function defineAttention(
  module: ModuleBuilder,
  math: Arithmetic,
  cache: CacheShape,
  { queriesPerKey, attentionCap: cap = null }: AttentionOptions,
): void {
  module.function("attend", KERNELS.attend, (f, locals) => {
    const { blockSize } = cache;
    const { first, length, table } = locals;
    const skippedBlocks = f.i32(i32.divU(first, blockSize));
    f.increment(table, i32.mul(skippedBlocks, 4));
    first.set(i32.sub(first, i32.mul(skippedBlocks, blockSize)));
    length.set(i32.sub(length, i32.mul(skippedBlocks, blockSize)));
    const walk: Walk = { f, math, cache, queriesPerKey, cap, locals };
    computeScores(walk);
    softmax(walk);
    addValues(walk);
  });
}

interface Walk {
  readonly f: FunctionBuilder;
  readonly math: Arithmetic;
  readonly cache: CacheShape;
  readonly queriesPerKey: number;
  readonly cap: number | null;
  readonly locals: Locals;
}

/** Neighbouring heads that share a key head. */
interface Tile {
  readonly heads: number;
  readonly firstHead: Local<"i32">;
  /** Their key head's part of the block in the cache. */
  readonly at: Local<"i32">;
  /** Position of the block's first token. */
  readonly position: Local<"i32">;
}

/** Writes `body` for each block and each tile of heads, once for each size of a tile. */
function eachTile({ f, cache, queriesPerKey, locals }: Walk, start: Local<"i32">, body: (tile: Tile) => void): void {
  const { blockBytes, table, length, heads, groupHead } = locals;
  const tableAt = f.i32(table);
  f.for(0, length, cache.blockSize, (position) => {
    const at = f.i32(i32.add(start, i32.mul(i32.load(tableAt), blockBytes)));
    const firstHead = f.i32(0);
    const inGroup = f.i32(groupHead);
    const left = f.i32();
    const compute = (tileHeads: number): void => {
      body({ heads: tileHeads, firstHead, at, position });
      f.increment(firstHead, tileHeads);
      f.increment(inGroup, tileHeads);
    };
    const largestOf = (tileHeads: number): void => {
      if (tileHeads === 1) return compute(1);
      f.if(
        i32.geU(left, tileHeads),
        () => compute(tileHeads),
        () => largestOf(tileHeads - 1),
      );
    };
    f.doWhile(
      () => {
        const ofGroup = i32.sub(queriesPerKey, inGroup);
        const ofAll = i32.sub(heads, firstHead);
        left.set(i32.select(i32.ltU(ofGroup, ofAll), ofGroup, ofAll));
        largestOf(Math.min(MAX_HEADS[cache.dtype], queriesPerKey));
        f.if(i32.eq(inGroup, queriesPerKey), () => {
          inGroup.set(0);
          f.increment(at, headBlockBytes(cache));
        });
      },
      i32.ltU(firstHead, heads),
    );
    f.increment(tableAt, 4);
  });
}

/** Returns four cached values, `index` after the pointer. */
function fourCached(cache: CacheShape, pointer: I32, index: number, halfBits: Vector): Vector {
  if (cache.dtype === "f32") return v128.load(pointer, 4 * index);
  return extendedHalves(v128.load16x4S(pointer, 2 * index), halfBits);
}

/** Computes scores[head, position] of whole blocks; two chains per token, of even and of odd dimensions. */
function computeScores(walk: Walk): void {
  const { f, math, cache, cap, locals } = walk;
  const { keys, scores, pitch, scale } = locals;
  const { headSize, blockSize } = cache;
  const halfBits = movedHalfBits(f);
  const scales = f.v128(f32x4.splat(cache.dtype === "f16" ? f32.mul(scale, SCORE_SCALE) : scale));
  const queries = scaledQueries(walk);
  const registers = new TileRegisters(f, math, shapesOf(SCORE_VECTORS), CHAINS);
  eachTile(walk, keys, ({ heads, firstHead, at, position }) => {
    const step = SCORE_VECTORS[heads - 1] ?? 1;
    for (let token = 0; token < blockSize; token += 4 * step) {
      const vectors = Math.min(step, (blockSize - token) / 4);
      const chains = [0, 1].map((chain) => registers.sums({ rows: heads, columns: vectors }, chain));
      for (const sum of chains.flat(2)) sum.set(0);
      const key = f.i32(at);
      const query = f.i32(i32.add(queries, i32.mul(firstHead, 4 * headSize)));
      f.for(0, headSize, 4, () => {
        for (let d = 0; d < 4; d++) {
          registers.add(
            chains[d % CHAINS] ?? [],
            range(heads).map((head) => v128.load32Splat(query, 4 * (head * headSize + d))),
            range(vectors).map((i) => fourCached(cache, key, d * blockSize + token + 4 * i, halfBits)),
          );
        }
        f.increment(key, 4 * blockSize * valueBytes(cache));
        f.increment(query, VECTOR_BYTES);
      });
      const out = f.i32(i32.add(i32.add(scores, i32.mul(firstHead, pitch)), i32.mul(position, 4)));
      for (let head = 0; head < heads; head++) {
        for (let i = 0; i < vectors; i++) {
          const score = f32x4.add(chains[0]?.[head]?.[i] ?? 0, chains[1]?.[head]?.[i] ?? 0);
          const scaled = f32x4.mul(score, scales);
          f.storeV128(out, cap === null ? scaled : math.capped(f, scaled, cap), 4 * token + VECTOR_BYTES * i);
        }
        f.increment(out, pitch);
      }
    }
  });
}

/** Returns the queries; for halves QUERY_SCALE times larger, in y, which is still unused. */
function scaledQueries({ f, cache, locals }: Walk): Local<"i32"> {
  const { q, y, heads } = locals;
  if (cache.dtype === "f32") return q;
  f.for(0, i32.mul(heads, 4 * cache.headSize), VECTOR_BYTES, (i) =>
    f.storeV128(i32.add(y, i), f32x4.mul(v128.load(i32.add(q, i)), QUERY_SCALE)),
  );
  return y;
}

/** Turns each head's scores into weights. Positions outside of first .. length - 1 weigh nothing. */
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
  const { y, values, scores, pitch, length } = locals;
  const { headSize, blockSize } = cache;
  const halfBits = movedHalfBits(f);
  const registers = new TileRegisters(f, math, shapesOf(VALUE_VECTORS), 1);
  const pitches = VALUE_VECTORS.map((_, head) => f.i32(i32.mul(pitch, head)));
  f.for(0, i32.mul(locals.heads, 4 * headSize), VECTOR_BYTES, (i) => f.storeV128(i32.add(y, i), 0));
  eachTile(walk, values, ({ heads, firstHead, at, position }) => {
    const step = VALUE_VECTORS[heads - 1] ?? 1;
    const output = f.i32(i32.add(y, i32.mul(firstHead, 4 * headSize)));
    const weights = f.i32(i32.add(i32.add(scores, i32.mul(firstHead, pitch)), i32.mul(position, 4)));
    const left = f.i32(i32.sub(length, position));
    const tokens: Value<"i32"> = i32.select(i32.ltU(left, blockSize), left, blockSize);
    const weightsEnd = f.i32(i32.add(weights, i32.mul(tokens, 4)));
    for (let d = 0; d < headSize; d += 4 * step) {
      const vectors = Math.min(step, (headSize - d) / 4);
      const sums = registers.sums({ rows: heads, columns: vectors }, 0);
      const offsetOf = (head: number, i: number) => 4 * (head * headSize + d) + VECTOR_BYTES * i;
      sums.forEach((own, head) => own.forEach((sum, i) => sum.set(v128.load(output, offsetOf(head, i)))));
      const value = f.i32(at);
      f.for(weights, weightsEnd, 4, (weight) => {
        registers.add(
          sums,
          pitches.slice(0, heads).map((offset) => v128.load32Splat(i32.add(weight, offset))),
          range(vectors).map((i) => fourCached(cache, value, d + 4 * i, halfBits)),
        );
        f.increment(value, headSize * valueBytes(cache));
      });
      sums.forEach((own, head) => own.forEach((sum, i) => f.storeV128(output, sum, offsetOf(head, i))));
    }
  });
}

/** Returns the shapes of tiles of 1, 2, ... heads. @param vectors the columns of each, in vectors */
function shapesOf(vectors: readonly number[]) {
  return vectors.map((columns, i) => ({ rows: i + 1, columns }));
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
