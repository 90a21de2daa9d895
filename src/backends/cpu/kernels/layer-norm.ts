// y = (x - mean(x)) / sqrt(variance(x) + epsilon) gamma + beta      one row of `width` values
// y = x / sqrt(mean(x^2) + epsilon) gamma                           (RMSNorm)
//
// Rows, gamma and beta are padded with zeros to `bytes`, a multiple of 16; so the padding of y is zero. 16 partial sums, of
// every 16th value, ascending (what is left of the width goes to the first four); then by fours, then (0 + 1) + (2 + 3).

import type { FunctionBuilder, Local } from "../wasm/function-builder.ts";
import { f32, f32x4, i32, i32x4, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Value, Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { KERNELS } from "./signatures.ts";

const NUM_SUMS = 4;
const STEP_BYTES = 16 * NUM_SUMS;

export function defineNorms(module: ModuleBuilder, math: Arithmetic): void {
  module.function("layer_norm", KERNELS.layer_norm, (f, { x, y, gamma, beta, bytes, width, epsilon }) => {
    const total = sumOver(f, math, bytes, (at, sum) => f32x4.add(sum, v128.load(i32.add(x, at.address), at.offset)));
    const mean = f.v128(f32x4.splat(f32.div(total, f32.convertI32U(width))));
    const index = f.v128(i32x4.lanes(0, 1, 2, 3));
    const widths = f.v128(i32x4.splat(width));
    const squares = sumOver(f, math, bytes, (at, sum) => {
      const difference = f.v128(f32x4.sub(v128.load(i32.add(x, at.address), at.offset), mean));
      difference.set(v128.and(difference, i32x4.ltS(index, widths)));
      index.set(i32x4.add(index, 4));
      return math.madd(difference, difference, sum);
    });
    const scale = scaleOf(f, squares, width, epsilon);
    f.for(0, bytes, 16, (i) => {
      const normal = f32x4.mul(f32x4.sub(v128.load(i32.add(x, i)), mean), scale);
      f.storeV128(i32.add(y, i), math.madd(normal, v128.load(i32.add(gamma, i)), v128.load(i32.add(beta, i))));
    });
  });

  module.function("rms_norm", KERNELS.rms_norm, (f, { x, y, gamma, bytes, width, epsilon }) => {
    const squares = sumOver(f, math, bytes, (at, sum) => {
      const value = f.v128(v128.load(i32.add(x, at.address), at.offset));
      return math.madd(value, value, sum);
    });
    const scale = scaleOf(f, squares, width, epsilon);
    f.for(0, bytes, 16, (i) => {
      const normal = f32x4.mul(v128.load(i32.add(x, i)), scale);
      f.storeV128(i32.add(y, i), f32x4.mul(normal, v128.load(i32.add(gamma, i))));
    });
  });
}

interface Place {
  readonly address: Local<"i32">;
  readonly offset: number;
}

/** Returns the total of the sums after `add`, value by value. */
function sumOver(f: FunctionBuilder, math: Arithmetic, bytes: Local<"i32">, add: (at: Place, sum: Vector) => Vector) {
  const sums = Array.from({ length: NUM_SUMS }, () => f.v128(0));
  const whole = f.i32(i32.and(bytes, -STEP_BYTES));
  f.for(0, whole, STEP_BYTES, (address) => {
    sums.forEach((sum, i) => sum.set(add({ address, offset: 16 * i }, sum)));
  });
  f.for(whole, bytes, 16, (address) => {
    for (const sum of sums.slice(0, 1)) sum.set(add({ address, offset: 0 }, sum));
  });
  const sum = f.v128(math.sumOfFour(sums));
  return f.f32(math.sumOfLanes(sum));
}

/** Returns 1 / sqrt(squares / width + epsilon), in every lane. */
function scaleOf(f: FunctionBuilder, squares: Value<"f32">, width: Local<"i32">, epsilon: Local<"f32">): Local<"v128"> {
  const mean = f32.div(squares, f32.convertI32U(width));
  return f.v128(f32x4.splat(f32.div(1, f32.sqrt(f32.add(mean, epsilon)))));
}
