// totals[r, n] = sum over k of x[r, k] w[k, n]      of one group of 32 columns, x as integers (quantise-rows.ts), w packed
//
// With the integers i of x, q of w, and what a chunk of 32 has of scales, in f32 and rounded after each operation:
//
//   group of w   t = (sum of (q - centre) i) scale [+ (sum of i) minimum]      the sums are exact integers
//   chunk        total = total + (t [+ the second group's t]) (the scale of x)
//
// Chunks in ascending order, from zero. Integers may be added in any order, so that a sum has the same bits on every machine.
// An integer w is what files/packing.ts says, and minimums are those that are added.

import { TABLES, type Packing } from "../../../files/packing.ts";
import type { FunctionBuilder } from "../wasm/function-builder.ts";
import { f32x4, i16x8, i32, i32x4, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { I32, Vector } from "../wasm/value.ts";
import type { IntegerDots } from "../integer-dots.ts";
import { TOTALS_STRIDE } from "./epilogues.ts";
import {
  CHUNK,
  GROUP_COLUMNS,
  highBits,
  layoutName,
  lookedUp,
  PANEL_COLUMNS,
  packedOffsets,
  packedScales,
  WORDS_BYTES,
} from "./panels.ts";
import { TILE, type Tile } from "./product-tiles.ts";
import { QUANTISED } from "./quantise-rows.ts";

/** Rows whose sums of a panel fit in registers. */
export const MAX_INTEGER_HEIGHT = 4;
const WORDS = CHUNK / 4;
const PANEL_TOTALS_BYTES = 4 * PANEL_COLUMNS;
/** Words whose products of 8 bits add up within 16, by the bits of q. */
const WORDS_IN_SHORTS: Readonly<Record<number, number>> = { 4: 8, 5: 4, 6: 2 };

/** @param kind what multiplies: all have the same bits */
export function defineIntegerTile(module: ModuleBuilder, packing: Packing, rows: number, kind: IntegerDots): Tile {
  const { bits, centre, group, hasMinimum, table } = packing;
  const { scaleOf, minimumOf } = packedScales(packing);
  const groups = Math.max(1, CHUNK / group);
  const bitsOfQ = table === null ? bits : 32 - Math.clz32(Math.max(...TABLES[table]));
  const wordsInShorts = kind === "plain" ? undefined : WORDS_IN_SHORTS[bitsOfQ];
  const addsUp = kind === "unsigned" || kind === "signed";
  // Signed bytes are those of q - 128.
  const moved = kind === "signed" && bitsOfQ > 7 ? 128 : 0;
  return module.function(`integer_tile_${layoutName(packing)}_${rows}`, TILE, (f, parameters) => {
    const { x, xStride, w, head, panelBytes, totals } = parameters;
    const read = wordReader(packing, f);
    const low = f.v128(i32x4.splat(0x00ff00ff));
    const xRows = Array.from({ length: rows }, () => f.i32());
    const sums = xRows.map(() => f.vectors(2));
    const shorts = wordsInShorts === undefined || addsUp ? [] : xRows.map(() => f.vectors(2));
    const results = groups > 1 ? xRows.map(() => f.vectors(2)) : sums;
    const weights = f.vectors(wordsInShorts === undefined && !addsUp ? 4 : 2);
    const signs = moved === 0 ? null : f.v128(i32x4.splat(0x80808080 | 0));
    const [splat, second, scale, minimum] = [f.v128(), f.v128(), f.v128(), f.v128()];
    const totalsEnd = f.i32(i32.add(totals, 4 * GROUP_COLUMNS));
    xRows.forEach((row, r) => row.set(r === 0 ? x : i32.add(xRows[r - 1] ?? x, xStride)));
    f.doWhile(
      () => {
        for (let g = 0; g < groups; g++) {
          const begin = (g * WORDS) / groups;
          for (let word = begin; word < begin + WORDS / groups; word++) {
            const isFirst = word === begin;
            const [v0, v1] = [read(w, word, 0), read(w, word, 1)];
            if (addsUp) {
              [v0, v1].forEach((bytes, half) => weights[half]?.set(signs ? v128.xor(bytes, signs) : bytes));
              xRows.forEach((row, r) => {
                splat.set(v128.load32Splat(row, QUANTISED.bytes + 4 * word));
                sums[r]?.forEach((sum, half) => {
                  const before = isFirst ? i32x4.splat(0) : sum;
                  sum.set(i32x4.relaxedDotI8x16I7x16AddS(splat, weights[half] ?? splat, before));
                });
              });
              continue;
            }
            if (wordsInShorts === undefined) {
              [v0, v1].forEach((bytes, half) => {
                const [even = splat, odd = splat] = [weights[2 * half], weights[2 * half + 1]];
                odd.set(bytes);
                even.set(v128.and(odd, low));
                odd.set(i16x8.shrU(odd, 8));
              });
              xRows.forEach((row, r) => {
                splat.set(v128.load32Splat(row, QUANTISED.shorts + 8 * word));
                second.set(v128.load32Splat(row, QUANTISED.shorts + 8 * word + 4));
                sums[r]?.forEach((sum, half) => {
                  const [even = splat, odd = splat] = [weights[2 * half], weights[2 * half + 1]];
                  const dots = i32x4.add(i32x4.dotI16x8S(even, splat), i32x4.dotI16x8S(odd, second));
                  sum.set(isFirst ? dots : i32x4.add(sum, dots));
                });
              });
              continue;
            }
            [v0, v1].forEach((bytes, half) => weights[half]?.set(bytes));
            const place = (word - begin) % wordsInShorts;
            const isLast = place === wordsInShorts - 1 || word === begin + WORDS / groups - 1;
            xRows.forEach((row, r) => {
              splat.set(v128.load32Splat(row, QUANTISED.bytes + 4 * word));
              shorts[r]?.forEach((short, half) => {
                const dots = i16x8.relaxedDotI8x16I7x16S(splat, weights[half] ?? splat);
                short.set(place === 0 ? dots : i16x8.add(short, dots));
                const sum = sums[r]?.[half];
                if (!isLast || !sum) return;
                const wide = i32x4.extaddPairwiseI16x8S(short);
                sum.set(word - begin < wordsInShorts ? wide : i32x4.add(sum, wide));
              });
            });
          }
          const sumOffset = QUANTISED.sums + (groups > 1 ? 4 * g : 8);
          for (const half of [0, 1]) {
            scale.set(scaleOf(w, head, g, half));
            if (hasMinimum) minimum.set(minimumOf(w, head, g, half));
            xRows.forEach((row, r) => {
              const sum = sums[r]?.[half];
              const result = results[r]?.[half];
              if (!sum || !result) return;
              const exact = f32x4.convertI32x4S(sum);
              if (centre !== moved || hasMinimum) splat.set(v128.load32Splat(row, sumOffset));
              const centred = centre === moved ? exact : f32x4.sub(exact, f32x4.mul(splat, centre - moved));
              second.set(f32x4.mul(centred, scale));
              if (hasMinimum) second.set(f32x4.add(second, f32x4.mul(splat, minimum)));
              result.set(g === 0 ? second : f32x4.add(result, second));
            });
          }
        }
        xRows.forEach((row, r) => {
          splat.set(v128.load32Splat(row, QUANTISED.scale));
          results[r]?.forEach((result, half) => {
            const at = TOTALS_STRIDE * r + 16 * half;
            f.storeV128(totals, f32x4.add(v128.load(totals, at), f32x4.mul(result, splat)), at);
          });
        });
        f.increment(w, panelBytes);
        f.increment(head, panelBytes);
        f.increment(totals, PANEL_TOTALS_BYTES);
      },
      i32.ltU(totals, totalsEnd),
    );
  });
}

type WordReader = (chunk: I32, word: number, half: number) => Vector;

/** Returns how four integers of each column are read, in the bytes of lanes. */
function wordReader(packing: Packing, f: FunctionBuilder): WordReader {
  const { bits } = packing;
  const at = packedOffsets(packing);
  const high = highBits(packing);
  if (bits === 8) return (chunk, word, half) => v128.load(chunk, at.low + WORDS_BYTES * word + 16 * half);
  const low = f.v128(i32x4.splat(0x0f0f0f0f));
  const above = f.v128(i32x4.splat(high === 1 ? 0x10101010 : 0x30303030));
  const lookUp = lookedUp(f, packing);
  return (chunk, word, half) => {
    const bytes = v128.load(chunk, at.low + at.lowStride * word);
    const four = v128.and(half === 0 ? bytes : i32x4.shrU(bytes, 4), low);
    if (high === 0) return lookUp(four);
    const wordsHere = 8 / high;
    const others = v128.load(chunk, at.high + WORDS_BYTES * Math.floor(word / wordsHere) + 16 * half);
    const up = 4 - high * (word % wordsHere);
    return v128.or(four, v128.and(up > 0 ? i32x4.shl(others, up) : i32x4.shrU(others, -up), above));
  };
}
