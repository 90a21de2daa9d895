// token with the largest logit / temperature + gumbel(seed, output index, token): a draw from softmax(logits / temperature)
//
// The random numbers are the GPU's (shaders/lib/random.wgsl): Threefry-2x32 with 20 rounds (Salmon et al., "Parallel random
// numbers: as easy as 1, 2, 3", 2011), a function of key and counter alone. FORBIDDEN tokens are never drawn; if all are, the
// token is 0xffffffff. Four tokens that could not win even with the largest Gumbel number are skipped.

import type { FunctionBuilder, Local } from "../../wasm/function-builder.ts";
import { f32x4, i32, i32x4, v128 } from "../../wasm/instructions.ts";
import type { ModuleBuilder } from "../../wasm/module-builder.ts";
import type { Vector } from "../../wasm/value.ts";
import { FORBIDDEN, type Arithmetic } from "../arithmetic.ts";
import { KERNELS } from "../signatures.ts";
import { BestOfLanes, bestOfAll } from "./softmax-of.ts";

const VECTOR_BYTES = 16;
/** Above -log(-log(1 - 2^-24)) = 16.64. */
const LARGEST_GUMBEL = 16.7;
const ROTATIONS = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;
const PARITY = 0x1bd11bda;

export function defineDraw(module: ModuleBuilder, math: Arithmetic): void {
  module.function("draw", KERNELS.draw, (f, { logits, bytes, temperature, seedLow, seedHigh, outputIndex }) => {
    const best = new BestOfLanes(f, 0, 4);
    const threefry = new Threefry(f, seedLow, seedHigh, outputIndex);
    const temperatures = f.v128(f32x4.splat(temperature));
    const logit = f.v128();
    const luck = f.v128();
    f.for(0, bytes, VECTOR_BYTES, (i) => {
      logit.set(v128.load(i32.add(logits, i)));
      luck.set(f32x4.div(logit, temperatures));
      const mayWin = v128.and(f32x4.gt(f32x4.add(luck, LARGEST_GUMBEL), best.values), f32x4.gt(logit, FORBIDDEN));
      f.if(v128.anyTrue(mayWin), () => {
        luck.set(f32x4.add(luck, gumbel(f, math, threefry.bits(best.next))));
        luck.set(v128.bitselect(luck, f32x4.splat(FORBIDDEN), f32x4.gt(logit, FORBIDDEN)));
        best.offer(luck);
      });
      best.advance();
    });
    f.return(bestOfAll(f, [best]).token);
  });
}

/** -log(-log(u)); u has 23 bits and a half, the most that f32 holds without rounding: never 0 or 1. */
function gumbel(f: FunctionBuilder, math: Arithmetic, bits: Vector): Vector {
  const integer = f32x4.convertI32x4S(i32x4.shrU(bits, 9));
  const uniform = f32x4.mul(f32x4.add(integer, 0.5), 2 ** -23);
  return f32x4.neg(math.log(f, f32x4.neg(math.log(f, uniform))));
}

/** The first words of threefry((seed), (output index, token)) for four tokens. */
class Threefry {
  readonly #f: FunctionBuilder;
  readonly #keys: readonly Local<"v128">[];
  /** The first word of the counter, with its key added. */
  readonly #first: Local<"v128">;

  constructor(f: FunctionBuilder, seedLow: Local<"i32">, seedHigh: Local<"i32">, outputIndex: Local<"i32">) {
    this.#f = f;
    const last = i32.xor(i32.xor(seedLow, seedHigh), PARITY);
    this.#keys = [seedLow, seedHigh, last].map((key) => f.v128(i32x4.splat(key)));
    this.#first = f.v128(i32x4.splat(i32.add(outputIndex, seedLow)));
  }

  bits(tokens: Vector): Vector {
    const f = this.#f;
    const key = (i: number) => this.#keys[i % 3] ?? this.#first;
    const x = f.v128(this.#first);
    const y = f.v128(i32x4.add(tokens, key(1)));
    for (let i = 1; i <= 5; i++) {
      for (const bits of ROTATIONS[(i - 1) % 2] ?? ROTATIONS[0]) {
        x.set(i32x4.add(x, y));
        y.set(v128.xor(v128.or(i32x4.shl(y, bits), i32x4.shrU(y, 32 - bits)), x));
      }
      x.set(i32x4.add(x, key(i)));
      y.set(i32x4.add(y, i32x4.add(key(i + 1), i)));
    }
    return x;
  }
}
