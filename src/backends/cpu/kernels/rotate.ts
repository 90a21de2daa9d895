// (a, b) = (a cos - b sin, b cos + a sin)      rotary positions of heads that lie side by side
//
//   a head of x   a [HEAD_SIZE / 2] | b [HEAD_SIZE / 2]         ("rotate-half", as Hugging Face's Llama has it)
//   angles        cos [HEAD_SIZE / 2] | sin [HEAD_SIZE / 2]     of the row's position

import { f32, f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { KERNELS } from "./signatures.ts";

/** @param headStride values from one head to the next */
export function defineRotate(module: ModuleBuilder, math: Arithmetic, headSize: number, headStride = headSize): void {
  const half = headSize / 2;
  module.function("rotate", KERNELS.rotate, (f, { x, heads, angles }) => {
    const a = f.v128();
    const b = f.v128();
    const cos = f.v128();
    const sin = f.v128();
    const one = f.f32();
    const other = f.f32();
    f.doWhile(
      () => {
        let i = 0;
        for (; i + 4 <= half; i += 4) {
          a.set(v128.load(x, 4 * i));
          b.set(v128.load(x, 4 * (half + i)));
          cos.set(v128.load(angles, 4 * i));
          sin.set(v128.load(angles, 4 * (half + i)));
          f.storeV128(x, math.madd(f32x4.neg(b), sin, f32x4.mul(a, cos)), 4 * i);
          f.storeV128(x, math.madd(a, sin, f32x4.mul(b, cos)), 4 * (half + i));
        }
        for (; i < half; i++) {
          one.set(f32.load(x, 4 * i));
          other.set(f32.load(x, 4 * (half + i)));
          const cosine = f32.load(angles, 4 * i);
          const sine = f32.load(angles, 4 * (half + i));
          f.storeF32(x, f32.sub(f32.mul(one, cosine), f32.mul(other, sine)), 4 * i);
          f.storeF32(x, f32.add(f32.mul(other, cosine), f32.mul(one, sine)), 4 * (half + i));
        }
        f.increment(x, 4 * headStride);
        f.increment(heads, i32.sub(0, 1));
      },
      i32.ne(heads, 0),
    );
  });
}
