// weights[i] = exp((logits[i] - highest) / temperature), 0 where FORBIDDEN; returns their sum      (weigh)
// masses[i] = weights[i] / total in fixed point: 2^31 is probability 1                              (masses_of)

import { f32x4, i32, i32x4, v128 } from "../../wasm/instructions.ts";
import type { ModuleBuilder } from "../../wasm/module-builder.ts";
import { FORBIDDEN, type Arithmetic } from "../arithmetic.ts";
import { KERNELS } from "../signatures.ts";

/** Probability 1 as a mass. */
export const MASS_ONE = 2 ** 31;

const VECTOR_BYTES = 16;

export function defineWeigh(module: ModuleBuilder, math: Arithmetic): void {
  module.function("weigh", KERNELS.weigh, (f, locals) => {
    const { logits, weights, bytes } = locals;
    const highest = f.v128(f32x4.splat(locals.highest));
    const temperature = f.v128(f32x4.splat(locals.temperature));
    const sums = [f.v128(0), f.v128(0)];
    const logit = f.v128();
    f.for(0, bytes, 2 * VECTOR_BYTES, (i) => {
      sums.forEach((sum, n) => {
        logit.set(v128.load(i32.add(logits, i), VECTOR_BYTES * n));
        const weight = math.exp(f, f32x4.div(f32x4.sub(logit, highest), temperature));
        // At a high temperature even a FORBIDDEN logit would weigh something.
        weight.set(v128.and(weight, f32x4.gt(logit, FORBIDDEN)));
        f.storeV128(i32.add(weights, i), weight, VECTOR_BYTES * n);
        sum.set(f32x4.add(sum, weight));
      });
    });
    const [even = logit, odd = logit] = sums;
    logit.set(f32x4.add(even, odd));
    f.return(math.sumOfLanes(logit));
  });

  module.function("masses_of", KERNELS.masses_of, (f, { weights, masses, bytes, total }) => {
    const totals = f.v128(f32x4.splat(total));
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      const share = f32x4.div(v128.load(i32.add(weights, i)), totals);
      f.storeV128(i32.add(masses, i), i32x4.truncSatF32x4U(f32x4.add(f32x4.mul(share, MASS_ONE), 0.5)));
    });
  });
}
