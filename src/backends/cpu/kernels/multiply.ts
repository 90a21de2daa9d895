// y = a * b      (multiply)
// y += a * b     (multiply_add)      elements of rows, in ascending order

import { f32, f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
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
