// All kernels as one WebAssembly module.

import type { WeightLayout } from "../../../files/packing.ts";
import type { ActivationDtype, CpuMath } from "../../../protocol/config.ts";
import type { IntegerDots } from "../integer-dots.ts";
import { ModuleBuilder, type MemoryLimits } from "../wasm/module-builder.ts";
import { Arithmetic } from "./arithmetic.ts";
import { defineAttention } from "./attention.ts";
import { defineBarrier } from "./barrier.ts";
import { defineCacheWrite, type CacheShape } from "./cache-write.ts";
import { defineDeltaNet, type DeltaNetKernels } from "./delta-net.ts";
import { defineEmbed } from "./embed.ts";
import { defineEpilogues } from "./epilogues.ts";
import { defineNorms } from "./layer-norm.ts";
import { defineGates, defineMultiply } from "./multiply.ts";
import { kernelsFor, layoutName, panelFormat, type ReadBy } from "./panels.ts";
import { defineIntegerTiles, defineProduct, defineQuantisedProduct, defineTiles } from "./product.ts";
import { defineQuantiseRows } from "./quantise-rows.ts";
import { defineRotate } from "./rotate.ts";
import { defineDraw } from "./sampling/draw.ts";
import { defineFilters } from "./sampling/filter.ts";
import { defineLogprobs } from "./sampling/logprobs.ts";
import { defineSoftmaxOf } from "./sampling/softmax-of.ts";
import { defineTypicality } from "./sampling/typicality.ts";
import { defineWeigh } from "./sampling/weigh.ts";
import type { EMBED, Kernels, PRODUCT } from "./signatures.ts";
import { defineUnpackChunk } from "./unpack-chunk.ts";
import type { Exported } from "../wasm/signature.ts";

/** Options that are fixed when the module is made. */
export interface KernelOptions {
  readonly math: CpuMath;
  /** Those of the model's matrices. */
  readonly layouts: readonly WeightLayout[];
  /** What packed weights are multiplied with. ["f32"] */
  readonly activationDtype?: ActivationDtype;
  /** What multiplies integers. All give the same bits. ["plain"] */
  readonly integerDots?: IntegerDots;
  readonly cache: CacheShape;
  /** Number of a head's values that positions rotate. [all of a head in the cache] */
  readonly rotarySize?: number;
  /** Query heads that share a key head. */
  readonly queriesPerKey: number;
  /** See Attention.cap. [null] */
  readonly attentionCap?: number | null;
  /** See Head.cap. [null] */
  readonly logitCap?: number | null;
  /** [the model has no delta nets] */
  readonly deltaNet?: DeltaNetKernels | null;
  readonly memory: MemoryLimits;
}

export function assembleKernels(options: KernelOptions): Uint8Array<ArrayBuffer> {
  const { cache, memory } = options;
  const module = new ModuleBuilder(memory);
  const math = new Arithmetic(options.math);
  defineProducts(module, math, options);
  defineNorms(module, math);
  defineRotate(module, math, options.rotarySize ?? cache.headSize, cache.headSize);
  defineCacheWrite(module, cache);
  defineAttention(module, math, cache, options);
  defineMultiply(module, math);
  defineGates(module, math);
  if (options.deltaNet) defineDeltaNet(module, math, options.deltaNet);
  defineSoftmaxOf(module, math);
  defineDraw(module, math);
  defineWeigh(module, math);
  defineFilters(module);
  defineTypicality(module, math);
  defineLogprobs(module, math);
  if (memory.isShared) defineBarrier(module);
  return module.finish();
}

/** Defines what reads weights, once for each layout. */
function defineProducts(module: ModuleBuilder, math: Arithmetic, options: KernelOptions): void {
  const epilogues = defineEpilogues(module, math, options.logitCap ?? null);
  const plain = panelFormat("f32");
  const tiles = defineTiles(module, math, plain);
  const quantise = options.activationDtype === "int8" ? defineQuantiseRows(module, math) : null;
  for (const layout of new Map(options.layouts.map((each) => [layoutName(each), each])).values()) {
    const format = panelFormat(layout);
    const unpack = layout === "f32" ? null : defineUnpackChunk(module, math, format);
    const name = kernelsFor(layout).product;
    defineEmbed(module, format, unpack);
    if (quantise && typeof layout !== "string") {
      const integerTiles = defineIntegerTiles(module, layout, options.integerDots ?? "plain");
      const product = defineProduct(module, `integer_${name}`, format, integerTiles, null, epilogues);
      defineQuantisedProduct(module, name, product, quantise);
      continue;
    }
    const own = unpack ? defineTiles(module, math, format) : tiles;
    defineProduct(module, name, format, own, unpack && { unpack, tiles }, epilogues);
  }
}

export function productOf(kernels: Kernels, { product }: ReadBy): Exported<typeof PRODUCT> {
  return defined(kernels[product]);
}

export function embedOf(kernels: Kernels, { embed }: ReadBy): Exported<typeof EMBED> {
  return defined(kernels[embed]);
}

function defined<T>(kernel: T | undefined): T {
  if (kernel === undefined) throw new Error("the kernels were not made for this layout");
  return kernel;
}

/** An instance of the module over a memory of the sizes that it was made for. */
export async function instantiateKernels(module: WebAssembly.Module, memory: WebAssembly.Memory): Promise<Kernels> {
  const instance = await WebAssembly.instantiate(module, { env: { memory } });
  return instance.exports as unknown as Kernels;
}
