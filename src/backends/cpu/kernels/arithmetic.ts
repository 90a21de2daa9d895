// Vector arithmetic in one fixed order: exp, log, activations, sums over lanes, halves. Only `madd` has two forms, and so a
// module has the same bits in every engine ("portable"), or those of the processor's fused multiply-add ("fastest").
//
//   function     domain            error
//   exp          all               relative, below 2e-7; 0 below -87.3, and the largest it makes is exp(88)
//   log          normal, > 0       relative, below 2e-7
//   gelu, silu   all               relative to max(1, |x|), below 3e-7
//   capped       all               relative to the cap, below 2e-7

import type { FunctionBuilder, Local } from "../wasm/function-builder.ts";
import { f32, f32x4, i32x4, v128 } from "../wasm/instructions.ts";
import type { CpuMath } from "../../../protocol/config.ts";
import type { F32x4, Value, Vector } from "../wasm/value.ts";

/** The logit of a token that may not be drawn, and the score of a position without weight: the lowest f32. */
export const FORBIDDEN = -3.4028234663852886e38;

const HIGHEST_EXPONENT = 88;
const LOWEST_EXPONENT = -87.3;
/** ln 2 in two parts, the first of few bits, so that a small integer times it is exact. */
const LN2_HIGH = 0.693359375;
const LN2_LOW = -2.1219444005469057e-4;
/** 1.5 2^23: added to a small number, it leaves its nearest integer in the low bits. */
const ROUNDER = 12582912;
const MANTISSA_BITS = 23;
const SQRT_HALF_BITS = 0x3f3504f3;

/** exp(r) = 1 + r + r^2 P(r) for |r| <= ln 2 / 2. Cephes' expf. */
const EXP_POLYNOMIAL = [
  1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1,
];
/** log(1 + x) = x - x^2 / 2 + x^3 P(x) for sqrt(1/2) <= 1 + x < sqrt(2). Cephes' logf. */
const LOG_POLYNOMIAL = [
  7.0376836292e-2, -1.151461031e-1, 1.167699874e-1, -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1,
];
/** erf(x) = 1 - (t P(t)) exp(-x^2) with t = 1 / (1 + 0.3275911 x), x >= 0. Abramowitz and Stegun 7.1.26. */
const ERF_POLYNOMIAL = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592];
const ERF_SLOPE = 0.3275911;

export class Arithmetic {
  readonly #isFused: boolean;

  constructor(math: CpuMath) {
    this.#isFused = math === "fastest";
  }

  /** a b + c */
  madd(a: F32x4, b: F32x4, c: F32x4): Vector {
    return this.#isFused ? f32x4.relaxedMadd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
  }

  /** (0 + 1) + (2 + 3) */
  sumOfLanes(v: Vector): Value<"f32"> {
    const lane = (i: number) => f32x4.extractLane(v, i);
    return f32.add(f32.add(lane(0), lane(1)), f32.add(lane(2), lane(3)));
  }

  /** (0 + 1) + (2 + 3), of vectors. */
  sumOfFour([a = 0, b = 0, c = 0, d = 0]: readonly F32x4[]): Vector {
    return f32x4.add(f32x4.add(a, b), f32x4.add(c, d));
  }

  maxOfLanes(v: Vector): Value<"f32"> {
    const lane = (i: number) => f32x4.extractLane(v, i);
    return f32.max(f32.max(lane(0), lane(1)), f32.max(lane(2), lane(3)));
  }

  /** 2^n exp(r), x = n ln 2 + r. */
  exp(f: FunctionBuilder, x: F32x4): Local<"v128"> {
    const input = f.v128(x);
    const r = f.v128(f32x4.pmin(HIGHEST_EXPONENT, f32x4.pmax(LOWEST_EXPONENT, input)));
    const shifted = f.v128(this.madd(r, Math.LOG2E, ROUNDER));
    const n = f.v128(f32x4.sub(shifted, ROUNDER));
    r.set(this.madd(n, -LN2_HIGH, r));
    r.set(this.madd(n, -LN2_LOW, r));
    const p = this.#polynomial(f, r, EXP_POLYNOMIAL);
    p.set(this.madd(p, f32x4.mul(r, r), f32x4.add(r, 1)));
    p.set(i32x4.add(p, i32x4.shl(shifted, MANTISSA_BITS)));
    p.set(v128.and(p, f32x4.ge(input, LOWEST_EXPONENT)));
    return p;
  }

  /** e ln 2 + log(m), x = 2^e m. */
  log(f: FunctionBuilder, x: F32x4): Local<"v128"> {
    const bits = f.v128(x);
    const e = f.v128(i32x4.shrS(i32x4.sub(bits, SQRT_HALF_BITS), MANTISSA_BITS));
    const m = f.v128(f32x4.sub(i32x4.sub(bits, i32x4.shl(e, MANTISSA_BITS)), 1));
    e.set(f32x4.convertI32x4S(e));
    const square = f.v128(f32x4.mul(m, m));
    const p = this.#polynomial(f, m, LOG_POLYNOMIAL);
    p.set(f32x4.mul(f32x4.mul(p, m), square));
    p.set(this.madd(e, LN2_LOW, p));
    p.set(this.madd(square, -0.5, p));
    p.set(this.madd(e, LN2_HIGH, f32x4.add(m, p)));
    return p;
  }

  /** x / (1 + exp(-x)) */
  silu(f: FunctionBuilder, x: Vector): Vector {
    return f32x4.div(x, f32x4.add(1, this.exp(f, f32x4.neg(x))));
  }

  /** 1 / (1 + exp(-x)) */
  sigmoid(f: FunctionBuilder, x: Vector): Vector {
    return f32x4.div(1, f32x4.add(1, this.exp(f, f32x4.neg(x))));
  }

  /** max(0, x)^2 */
  relu2(x: Vector): Vector {
    return f32x4.mul(x, f32x4.pmax(0, x));
  }

  /** cap tanh(x / cap) = cap - 2 cap / (1 + exp(2 x / cap)) */
  capped(f: FunctionBuilder, x: F32x4, cap: number): Vector {
    return f32x4.sub(cap, f32x4.div(2 * cap, f32x4.add(1, this.exp(f, f32x4.mul(x, 2 / cap)))));
  }

  /** 0.5 x (1 + tanh u) = x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715 x^3) */
  geluTanh(f: FunctionBuilder, x: Vector): Vector {
    const cube = f.v128(f32x4.mul(f32x4.mul(x, x), x));
    const u = this.madd(cube, 0.044715, x);
    return f32x4.div(x, f32x4.add(1, this.exp(f, f32x4.mul(u, -2 * Math.sqrt(2 / Math.PI)))));
  }

  /** 0.5 x (1 + erf(x / sqrt 2)), without a difference of equals on the negative side. */
  geluErf(f: FunctionBuilder, x: Vector): Vector {
    const a = f.v128(f32x4.mul(f32x4.abs(x), Math.SQRT1_2));
    const t = f.v128(f32x4.div(1, this.madd(a, ERF_SLOPE, 1)));
    const p = this.#polynomial(f, t, ERF_POLYNOMIAL);
    const rest = f.v128(f32x4.mul(f32x4.mul(p, t), this.exp(f, f32x4.neg(f32x4.mul(a, a)))));
    const factor = v128.bitselect(rest, f32x4.sub(2, rest), f32x4.lt(x, 0));
    return f32x4.mul(f32x4.mul(x, 0.5), factor);
  }

  /** Coefficients from the highest power down. */
  #polynomial(f: FunctionBuilder, x: Vector, [first = 0, ...rest]: readonly number[]): Local<"v128"> {
    const p = f.v128(first);
    for (const coefficient of rest) p.set(this.madd(p, x, coefficient));
    return p;
  }
}
