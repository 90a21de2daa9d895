// target[r] = the rows of x in integers of 8 bits, for products with packed weights (integer-tiles.ts)
//
// A group is a chunk of 32 values along K. Its scale is the largest magnitude times the f32 nearest to 1/127, its significand
// then rounded up to 12 bits. An integer is value / scale rounded to the nearest, ties to even: -127 to 127. It times the scale
// is exact. A scale of zero or a subnormal one gives zeros; the scale of a group with NaN or infinity is NaN.
//
//   a chunk, in the bytes of its f32      [32] integers of 16 bits: each word of four as k, k + 2, k + 1, k + 3
//                                         [32] integers of 8 bits, in order
//                                         scale, the sums of the first 16 integers, the other 16, and all, as f32

import type { FunctionReference } from "../wasm/function-builder.ts";
import { f32, f32x4, i16x8, i32, i32x4, i8x16, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { CHUNK } from "./panels.ts";
import { KERNELS } from "./signatures.ts";

/** Offsets in a chunk. */
export const QUANTISED = { shorts: 0, bytes: 2 * CHUNK, scale: 3 * CHUNK, sums: 3 * CHUNK + 4 };

/** Bits of a significand that are rounded away. */
const DROPPED_BITS = 0xfff;
const SMALLEST_NORMAL = 2 ** -126;

export type QuantiseRows = FunctionReference<typeof KERNELS.quantise_rows>;

/** kBytes: of a row of x with its padding, and from a row of the target to the next. */
export function defineQuantiseRows(module: ModuleBuilder, math: Arithmetic): QuantiseRows {
  return module.function("quantise_rows", KERNELS.quantise_rows, (f, { x, xStride, kBytes, rows, target }) => {
    const values = f.vectors(CHUNK / 4);
    const [largest, scale, isNormal] = [f.v128(), f.v128(), f.v128()];
    const sums = f.vectors(2);
    f.doWhile(
      () => {
        f.for(0, kBytes, 4 * CHUNK, (k) => {
          const from = f.i32(i32.add(x, k));
          const to = f.i32(i32.add(target, k));
          largest.set(0);
          values.forEach((value, i) => {
            value.set(v128.load(from, 16 * i));
            largest.set(f32x4.max(largest, f32x4.abs(value)));
          });
          scale.set(f32x4.splat(f32.mul(math.maxOfLanes(largest), 1 / 127)));
          isNormal.set(v128.andNot(i32x4.splat(-1), f32x4.lt(scale, SMALLEST_NORMAL)));
          scale.set(v128.andNot(i32x4.add(scale, DROPPED_BITS), DROPPED_BITS));
          scale.set(v128.and(scale, isNormal));
          // Not a number where a value is none, or infinite.
          scale.set(f32x4.add(scale, f32x4.splat(f32.mul(math.maxOfLanes(largest), 0))));
          for (const value of values) {
            const quotient = f32x4.nearest(f32x4.div(value, scale));
            value.set(v128.and(i32x4.truncSatF32x4S(quotient), isNormal));
          }
          sums.forEach((sum, s) => {
            const four = values.slice(4 * s, 4 * s + 4);
            sum.set(f32x4.convertI32x4S(four.reduce<Vector>((a, b) => i32x4.add(a, b), i32x4.splat(0))));
            f.storeF32(to, math.sumOfLanes(sum), QUANTISED.sums + 4 * s);
          });
          f.storeF32(to, math.sumOfLanes(f32x4.add(sums[0] ?? 0, sums[1] ?? 0)), QUANTISED.sums + 8);
          f.storeF32(to, f32x4.extractLane(scale, 0), QUANTISED.scale);
          const shorts = (i: number, order: readonly [number, number, number, number]) =>
            i16x8.narrowI32x4S(ordered(values[i], order), ordered(values[i + 1], order));
          for (let i = 0; i < values.length; i += 2) f.storeV128(to, shorts(i, [0, 2, 1, 3]), QUANTISED.shorts + 8 * i);
          for (let i = 0; i < values.length; i += 4)
            f.storeV128(
              to,
              i8x16.narrowI16x8S(shorts(i, [0, 1, 2, 3]), shorts(i + 2, [0, 1, 2, 3])),
              QUANTISED.bytes + 4 * i,
            );
        });
        f.increment(x, xStride);
        f.increment(target, kBytes);
        f.increment(rows, -1);
      },
      i32.ne(rows, 0),
    );
  });
}

function ordered(lanes: Vector | undefined, order: readonly [number, number, number, number]): Vector {
  if (!lanes) throw new RangeError("a chunk has more values");
  return i32x4.shuffle(lanes, lanes, order);
}
