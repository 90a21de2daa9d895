// All kernels as one WebAssembly module.

import type { CpuMath, WeightsDtype } from "../../../protocol/config.ts";
import { ModuleBuilder, type MemoryLimits } from "../wasm/module-builder.ts";
import { Arithmetic } from "./arithmetic.ts";
import { defineAttention, type Attend } from "./attention.ts";
import { defineBarrier, type Barrier } from "./barrier.ts";
import { defineCacheWrite, type CacheShape, type CacheWrite } from "./cache-write.ts";
import { defineEmbed, type Add, type Embed } from "./embed.ts";
import { defineEpilogues } from "./epilogues.ts";
import { defineNorms, type LayerNorm, type RmsNorm } from "./layer-norm.ts";
import { defineProduct, type Product } from "./product.ts";
import { defineRotate, type Rotate } from "./rotate.ts";
import { defineDraw, type Draw } from "./sampling/draw.ts";
import { defineFilters, type ForbidBelow, type ForbidLighter, type Gather, type Histogram } from "./sampling/filter.ts";
import { defineLogprobs, type CountAbove, type Log, type LogprobsOf } from "./sampling/logprobs.ts";
import { defineSoftmaxOf, type SoftmaxOf } from "./sampling/softmax-of.ts";
import { defineTypicality, type EntropyOf, type TypicalityOf } from "./sampling/typicality.ts";
import { defineWeigh, type MassesOf, type Weigh } from "./sampling/weigh.ts";

/** Options that are fixed when the module is made. */
export interface KernelOptions {
  readonly math: CpuMath;
  readonly dtype: WeightsDtype;
  readonly cache: CacheShape;
  /** Number of a head's values that positions rotate. [all of a head in the cache] */
  readonly rotarySize?: number;
  /** Query heads that share a key head. */
  readonly queriesPerKey: number;
  readonly memory: MemoryLimits;
}

/** The module's exports. Addresses and strides are bytes. */
export interface Kernels {
  readonly product: Product;
  readonly layer_norm: LayerNorm;
  readonly rms_norm: RmsNorm;
  readonly rotate: Rotate;
  readonly cache_write: CacheWrite;
  readonly attend: Attend;
  readonly embed: Embed;
  readonly add: Add;
  readonly softmax_of: SoftmaxOf;
  readonly draw: Draw;
  readonly weigh: Weigh;
  readonly masses_of: MassesOf;
  readonly histogram: Histogram;
  readonly gather: Gather;
  readonly forbid_below: ForbidBelow;
  readonly forbid_lighter: ForbidLighter;
  readonly entropy_of: EntropyOf;
  readonly typicality_of: TypicalityOf;
  readonly logprobs_of: LogprobsOf;
  readonly count_above: CountAbove;
  readonly log: Log;
  /** Needs shared memory. */
  readonly barrier?: Barrier;
}

export function assembleKernels(options: KernelOptions): Uint8Array<ArrayBuffer> {
  const { dtype, cache, memory } = options;
  const module = new ModuleBuilder(memory);
  const math = new Arithmetic(options.math);
  defineProduct(module, math, dtype, defineEpilogues(module, math));
  defineNorms(module, math);
  defineRotate(module, math, options.rotarySize ?? cache.headSize, cache.headSize);
  defineCacheWrite(module, cache);
  defineAttention(module, math, cache, options.queriesPerKey);
  defineEmbed(module, dtype);
  defineSoftmaxOf(module, math);
  defineDraw(module, math);
  defineWeigh(module, math);
  defineFilters(module);
  defineTypicality(module, math);
  defineLogprobs(module, math);
  if (memory.isShared) defineBarrier(module);
  return module.finish();
}

/** An instance of the module over a memory of the sizes that it was made for. */
export async function instantiateKernels(module: WebAssembly.Module, memory: WebAssembly.Memory): Promise<Kernels> {
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  return instance.exports as unknown as Kernels;
}
