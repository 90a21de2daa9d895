// Filters are thresholds on values by their order as keys: integers that ascend as the floats do, NaN the largest.
//
//   histogram       bins[key >> 20] += mass, or 1 without masses; FORBIDDEN values are not counted
//   gather          ids of the tokens with `key` or a larger one, ascending; returns how many
//   forbid_below    logits[i] = FORBIDDEN where the key of values[i] is below `key`
//   forbid_lighter  logits[i] = FORBIDDEN where weights[i] < least

import type { FunctionBuilder, Local } from "../../wasm/function-builder.ts";
import { f32, f32x4, i32, i32x4, v128 } from "../../wasm/instructions.ts";
import type { ModuleBuilder } from "../../wasm/module-builder.ts";
import type { Vector } from "../../wasm/value.ts";
import { FORBIDDEN } from "../arithmetic.ts";
import { KERNELS } from "../signatures.ts";

export const NUM_BINS = 4096;
export const BIN_SHIFT = 20;
const VECTOR_BYTES = 16;

export function defineFilters(module: ModuleBuilder): void {
  module.function("histogram", KERNELS.histogram, (f, { values, masses, bytes, bins }) => {
    f.for(0, 4 * NUM_BINS, VECTOR_BYTES, (i) => f.storeV128(i32.add(bins, i), 0));
    const mass = f.i32(1);
    f.for(0, bytes, 4, (i) => {
      const value = f.f32(f32.load(i32.add(values, i)));
      f.if(i32.eqz(f32.le(value, FORBIDDEN)), () => {
        f.if(masses, () => mass.set(i32.load(i32.add(masses, i))));
        const bin = f.i32(i32.add(bins, i32.shl(i32.shrU(keyOf(f, value), BIN_SHIFT), 2)));
        f.storeI32(bin, i32.add(i32.load(bin), mass));
      });
    });
  });

  module.function("gather", KERNELS.gather, (f, { values, bytes, key, ids }) => {
    const least = f.v128(i32x4.splat(key));
    const out = f.i32(ids);
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      const found = f.i32(i32x4.bitmask(i32x4.geU(keysOf(f, v128.load(i32.add(values, i))), least)));
      f.if(found, () => {
        for (let lane = 0; lane < 4; lane++) {
          f.if(i32.and(found, 1 << lane), () => {
            f.storeI32(out, i32.add(i32.shrU(i, 2), lane));
            f.increment(out, 4);
          });
        }
      });
    });
    f.return(i32.shrU(i32.sub(out, ids), 2));
  });

  module.function("forbid_below", KERNELS.forbid_below, (f, { logits, values, bytes, key }) => {
    const least = f.v128(i32x4.splat(key));
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      const isLeft = i32x4.geU(keysOf(f, v128.load(i32.add(values, i))), least);
      keep(f, f.i32(i32.add(logits, i)), isLeft);
    });
  });

  module.function("forbid_lighter", KERNELS.forbid_lighter, (f, { logits, weights, bytes, least }) => {
    const leasts = f.v128(f32x4.splat(least));
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      const isLeft = f32x4.ge(v128.load(i32.add(weights, i)), leasts);
      keep(f, f.i32(i32.add(logits, i)), isLeft);
    });
  });
}

function keep(f: FunctionBuilder, logits: Local<"i32">, isLeft: Vector): void {
  f.storeV128(logits, v128.bitselect(v128.load(logits), f32x4.splat(FORBIDDEN), isLeft));
}

function keysOf(f: FunctionBuilder, values: Vector): Local<"v128"> {
  const bits = f.v128(values);
  bits.set(v128.xor(bits, v128.or(i32x4.shrS(bits, 31), i32x4.splat(0x80000000 | 0))));
  return bits;
}

function keyOf(f: FunctionBuilder, value: Local<"f32">): Local<"i32"> {
  const bits = f.i32(i32.reinterpret(value));
  bits.set(i32.xor(bits, i32.or(i32.shrS(bits, 31), 0x80000000 | 0)));
  return bits;
}
