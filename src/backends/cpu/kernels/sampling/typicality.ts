// entropy = sum of p log(1 / p), in nats: p = weight / total, log(1 / p) = log total - (logit - highest) / temperature
// out[i] = -|log(1 / p) - entropy|, FORBIDDEN where the logit is: the larger, the more typical

import { f32x4, i32, v128 } from "../../wasm/instructions.ts";
import type { FunctionBuilder, Local } from "../../wasm/function-builder.ts";
import type { ModuleBuilder } from "../../wasm/module-builder.ts";
import type { Vector } from "../../wasm/value.ts";
import { FORBIDDEN, type Arithmetic } from "../arithmetic.ts";
import { KERNELS } from "../signatures.ts";

const VECTOR_BYTES = 16;

interface Scale {
  readonly highest: Local<"f32">;
  readonly temperature: Local<"f32">;
  readonly logTotal: Local<"f32">;
}

export function defineTypicality(module: ModuleBuilder, math: Arithmetic): void {
  module.function("entropy_of", KERNELS.entropy_of, (f, locals) => {
    const { logits, weights, bytes } = locals;
    const surpriseOf = surprise(f, locals);
    const total = f.v128(f32x4.splat(locals.total));
    const sum = f.v128(0);
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      const weight = f.v128(v128.load(i32.add(weights, i)));
      const term = f32x4.mul(f32x4.div(weight, total), surpriseOf(v128.load(i32.add(logits, i))));
      // A weight of 0 may have an infinite surprise.
      sum.set(f32x4.add(sum, v128.and(term, f32x4.gt(weight, 0))));
    });
    f.return(math.sumOfLanes(sum));
  });

  module.function("typicality_of", KERNELS.typicality_of, (f, locals) => {
    const { logits, out, bytes } = locals;
    const surpriseOf = surprise(f, locals);
    const entropy = f.v128(f32x4.splat(locals.entropy));
    const logit = f.v128();
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      logit.set(v128.load(i32.add(logits, i)));
      const distance = f32x4.abs(f32x4.sub(surpriseOf(logit), entropy));
      const isLeft = f32x4.gt(logit, FORBIDDEN);
      f.storeV128(i32.add(out, i), v128.bitselect(f32x4.neg(distance), f32x4.splat(FORBIDDEN), isLeft));
    });
  });
}

function surprise(f: FunctionBuilder, locals: Scale): (logit: Vector) => Vector {
  const highest = f.v128(f32x4.splat(locals.highest));
  const temperature = f.v128(f32x4.splat(locals.temperature));
  const logTotal = f.v128(f32x4.splat(locals.logTotal));
  return (logit) => f32x4.sub(logTotal, f32x4.div(f32x4.sub(logit, highest), temperature));
}
