// y = a * b      (multiply)
// y += a * b     (multiply_add)      elements of rows, in ascending order

import type { FunctionBuilder } from "../wasm/function-builder.ts";
import { f32, f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { KERNELS } from "./signatures.ts";

/** Defines them for rows whose `bytes` may be no multiple of a vector's. */
export function defineMultiply(module: ModuleBuilder, math: Arithmetic): void {
  module.function("multiply", KERNELS.multiply, (f, { y, a, b, bytes }) => {
    const vectors = f.i32(i32.and(bytes, -16));
    f.for(0, vectors, 16, (i) =>
      f.storeV128(i32.add(y, i), f32x4.mul(v128.load(i32.add(a, i)), v128.load(i32.add(b, i)))),
    );
    f.for(vectors, bytes, 4, (i) =>
      f.storeF32(i32.add(y, i), f32.mul(f32.load(i32.add(a, i)), f32.load(i32.add(b, i)))),
    );
  });
  module.function("multiply_add", KERNELS.multiply_add, (f, { y, a, b, bytes }) => {
    const vectors = f.i32(i32.and(bytes, -16));
    f.for(0, vectors, 16, (i) => {
      const sum = math.madd(v128.load(i32.add(a, i)), v128.load(i32.add(b, i)), v128.load(i32.add(y, i)));
      f.storeV128(i32.add(y, i), sum);
    });
    f.for(vectors, bytes, 4, (i) => {
      const product = f32.mul(f32.load(i32.add(a, i)), f32.load(i32.add(b, i)));
      f.storeF32(i32.add(y, i), f32.add(f32.load(i32.add(y, i)), product));
    });
  });
}

/** Defines what adds rows to others, or gates them. `bytes` are rounded up to a vector. */
export function defineGates(module: ModuleBuilder, math: Arithmetic): void {
  const each = (
    name: "add" | "multiply_sigmoid" | "multiply_silu",
    value: (f: FunctionBuilder, y: Vector, x: Vector) => Vector,
  ) =>
    module.function(name, KERNELS[name], (f, { y, x, bytes }) => {
      f.for(0, bytes, 16, (i) => {
        const other = f.v128(v128.load(i32.add(x, i)));
        f.storeV128(i32.add(y, i), value(f, v128.load(i32.add(y, i)), other));
      });
    });
  each("add", (_, y, x) => f32x4.add(y, x));
  each("multiply_sigmoid", (f, y, x) => f32x4.mul(y, math.sigmoid(f, x)));
  each("multiply_silu", (f, y, x) => f32x4.mul(y, math.silu(f, x)));
}
