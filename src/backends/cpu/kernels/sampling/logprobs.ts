// out[i] = (logits[i] - highest) / temperature - logTotal, FORBIDDEN where the logit is      (logprobs_of)
// how many logits are larger than `value`                                                    (count_above)
// log(x), x normal and positive                                                              (log)

import { f32x4, i32, i32x4, v128 } from "../../wasm/instructions.ts";
import type { ModuleBuilder } from "../../wasm/module-builder.ts";
import { FORBIDDEN, type Arithmetic } from "../arithmetic.ts";
import { KERNELS } from "../signatures.ts";

const VECTOR_BYTES = 16;

export function defineLogprobs(module: ModuleBuilder, math: Arithmetic): void {
  module.function("logprobs_of", KERNELS.logprobs_of, (f, locals) => {
    const { logits, out, bytes } = locals;
    const highest = f.v128(f32x4.splat(locals.highest));
    const temperature = f.v128(f32x4.splat(locals.temperature));
    const logTotal = f.v128(f32x4.splat(locals.logTotal));
    const logit = f.v128();
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      logit.set(v128.load(i32.add(logits, i)));
      const logprob = f32x4.sub(f32x4.div(f32x4.sub(logit, highest), temperature), logTotal);
      const isLeft = f32x4.gt(logit, FORBIDDEN);
      f.storeV128(i32.add(out, i), v128.bitselect(logprob, f32x4.splat(FORBIDDEN), isLeft));
    });
  });

  module.function("count_above", KERNELS.count_above, (f, locals) => {
    const { logits, bytes } = locals;
    const value = f.v128(f32x4.splat(locals.value));
    const counts = f.v128(0);
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      // True is -1.
      counts.set(i32x4.sub(counts, f32x4.gt(v128.load(i32.add(logits, i)), value)));
    });
    const lane = (i: number) => i32x4.extractLane(counts, i);
    f.return(i32.add(i32.add(lane(0), lane(1)), i32.add(lane(2), lane(3))));
  });

  module.function("log", KERNELS.log, (f, { x }) => {
    f.return(f32x4.extractLane(math.log(f, f32x4.splat(x)), 0));
  });
}
