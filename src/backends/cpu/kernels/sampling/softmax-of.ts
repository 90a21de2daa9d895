// out = (token, peak, total)      the largest of a row of logits, and total = sum of exp(logit - peak)
//
// The lowest token among equals; NaN is never the largest. Where no logit is above FORBIDDEN the token is 0xffffffff. Rows are
// padded with FORBIDDEN to a multiple of 32 logits, here and in all kernels of this folder.

import { f32, f32x4, i32, i32x4, v128 } from "../../wasm/instructions.ts";
import type { FunctionBuilder, Local } from "../../wasm/function-builder.ts";
import type { ModuleBuilder } from "../../wasm/module-builder.ts";
import { FORBIDDEN, type Arithmetic } from "../arithmetic.ts";
import { KERNELS } from "../signatures.ts";

const VECTOR_BYTES = 16;
const NO_TOKEN = -1;
const UNROLL = 2;

export function defineSoftmaxOf(module: ModuleBuilder, math: Arithmetic): void {
  module.function("softmax_of", KERNELS.softmax_of, (f, { logits, bytes, out }) => {
    const bests = Array.from({ length: UNROLL }, (_, i) => new BestOfLanes(f, 4 * i, 4 * UNROLL));
    const value = f.v128();
    f.for(0, bytes, UNROLL * VECTOR_BYTES, (i) => {
      bests.forEach((best, n) => {
        value.set(v128.load(i32.add(logits, i), VECTOR_BYTES * n));
        best.offer(value);
        best.advance();
      });
    });
    const best = bestOfAll(f, bests);
    const peak = f.v128(f32x4.splat(best.value));
    const totals = Array.from({ length: UNROLL }, () => f.v128(0));
    f.for(0, bytes, UNROLL * VECTOR_BYTES, (i) => {
      totals.forEach((total, n) => {
        const logit = v128.load(i32.add(logits, i), VECTOR_BYTES * n);
        total.set(f32x4.add(total, math.exp(f, f32x4.sub(logit, peak))));
      });
    });
    const total = f.v128(totals.reduce((a, b) => f.v128(f32x4.add(a, b))));
    f.storeI32(out, best.token);
    f.storeF32(out, best.value, 4);
    f.storeF32(out, math.sumOfLanes(total), 8);
  });
}

/** The largest value that each of four lanes has been offered, and its token. */
export class BestOfLanes {
  readonly values: Local<"v128">;
  readonly tokens: Local<"v128">;
  /** Tokens of the values that are offered next. */
  readonly next: Local<"v128">;
  readonly #f: FunctionBuilder;
  readonly #step: number;

  constructor(f: FunctionBuilder, firstToken: number, step: number) {
    this.#f = f;
    this.#step = step;
    this.values = f.v128(FORBIDDEN);
    this.tokens = f.v128(i32x4.splat(NO_TOKEN));
    this.next = f.v128(i32x4.lanes(firstToken, firstToken + 1, firstToken + 2, firstToken + 3));
  }

  offer(values: Local<"v128">): void {
    const isBetter = this.#f.v128(f32x4.gt(values, this.values));
    this.values.set(v128.bitselect(values, this.values, isBetter));
    this.tokens.set(v128.bitselect(this.next, this.tokens, isBetter));
  }

  advance(): void {
    this.next.set(i32x4.add(this.next, this.#step));
  }
}

/** Returns the best of all lanes, the lowest token among equals. */
export function bestOfAll(
  f: FunctionBuilder,
  bests: readonly BestOfLanes[],
): { readonly value: Local<"f32">; readonly token: Local<"i32"> } {
  const value = f.f32(FORBIDDEN);
  const token = f.i32(NO_TOKEN);
  for (const best of bests) {
    for (let lane = 0; lane < 4; lane++) {
      const other = f.f32(f32x4.extractLane(best.values, lane));
      const otherToken = f.i32(i32x4.extractLane(best.tokens, lane));
      const isFirst = i32.and(f32.eq(other, value), i32.ltU(otherToken, token));
      f.if(i32.or(f32.gt(other, value), isFirst), () => {
        value.set(other);
        token.set(otherToken);
      });
    }
  }
  return { value, token };
}
