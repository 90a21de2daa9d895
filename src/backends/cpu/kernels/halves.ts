// 16-bit floats, four at a time, exactly.
//
// A half whose sign, exponent and mantissa stand where an f32 has them is the f32 half 2^-112, subnormal halves included.

import type { FunctionBuilder, Local } from "../wasm/function-builder.ts";
import { f32x4, i32x4, v128 } from "../wasm/instructions.ts";
import type { Vector } from "../wasm/value.ts";

/** Factor for a half that was only moved. */
export const HALF_SCALE = 2 ** 112;

const MOVED_BITS = 0x8fffe000 | 0;
/** Bits from the top of a lane to the exponent. The sign may fill the bits between. */
const EXPONENT_SHIFT = 3;
/** Bits from the bottom of a lane to the mantissa. */
const MANTISSA_SHIFT = 13;

/** Returns four halves, from the upper halves of their lanes, as f32 over HALF_SCALE. The lower halves don't matter. */
export function movedHalves(lanes: Vector, bits: Vector): Vector {
  return v128.and(i32x4.shrS(lanes, EXPONENT_SHIFT), bits);
}

/** Returns four halves, in lanes with the sign in all bits above, as f32 over HALF_SCALE. */
export function extendedHalves(lanes: Vector, bits: Vector): Vector {
  return v128.and(i32x4.shl(lanes, MANTISSA_SHIFT), bits);
}

/** Returns the mask that these take, in a local. */
export function movedHalfBits(f: FunctionBuilder): Local<"v128"> {
  return f.v128(i32x4.splat(MOVED_BITS));
}

/** Returns the nearest halves, ties to even, as bits in the lower 16 of each lane; beyond 65504 infinity. */
export function toHalves(f: FunctionBuilder, values: Vector): Local<"v128"> {
  const bits = f.v128(values);
  const magnitude = f.v128(v128.and(bits, 0x7fffffff));
  // Exponents are biased by 127 and by 15. Just below half of the last kept bit, plus that bit: a tie goes to even.
  const roundUp = i32x4.add(0xfff, v128.and(i32x4.shrU(magnitude, 13), 1));
  const half = f.v128(i32x4.shrU(i32x4.sub(i32x4.add(magnitude, roundUp), 0x38000000), 13));
  // The last bit of 0.5 is worth what the last bit of a subnormal half is: the addition rounds to it.
  const subnormal = i32x4.sub(f32x4.add(magnitude, 0.5), 0x3f000000);
  half.set(v128.bitselect(subnormal, half, i32x4.ltS(magnitude, 0x38800000)));
  half.set(v128.bitselect(i32x4.splat(0x7c00), half, i32x4.gtS(magnitude, 0x477fffff))); // 65536 and more
  half.set(v128.bitselect(i32x4.splat(0x7e00), half, i32x4.gtS(magnitude, 0x7f800000))); // not a number
  half.set(v128.or(half, v128.and(i32x4.shrU(bits, 16), 0x8000)));
  return half;
}
