// What a GPT-2 takes on the GPU, before anything of it is there.

import type { Gpt2Config } from "../../models/gpt2/gpt2-config.ts";
import type { ResolvedEngineConfig, WeightsDtype } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { headVec4 } from "./gpt2-buffers.ts";
import { strideOf } from "./padding.ts";
import { packedBytes } from "./weights-dtype.ts";

type EngineSizes = Pick<ResolvedEngineConfig, "dtype" | "kvCacheDtype" | "numGpuBlocks" | "blockSize" | "maxNumSeqs">;

/** What decides how large a buffer may be. WebGPU does not tell how much memory there is in all. */
export type BufferLimits = Pick<GPUSupportedLimits, "maxBufferSize" | "maxStorageBufferBindingSize">;

export interface Gpt2Memory {
  readonly weightBytes: number;
  /** Of the largest of the weights that must be bound whole. */
  readonly largestWeightBytes: number;
  readonly kvCacheBytes: number;
}

export function gpt2Memory(config: Gpt2Config, engine: EngineSizes): Gpt2Memory {
  const { nEmbd, nInner, nLayer, nPositions, vocabSize } = config;
  const { dtype } = engine;
  const row = (width: number) => 4 * strideOf(width);
  const linear = (k: number, n: number) => packedBytes(k, n, dtype) + row(n);
  const norm = 2 * row(nEmbd);
  const layer =
    2 * norm + linear(nEmbd, 3 * nEmbd) + linear(nEmbd, nEmbd) + linear(nEmbd, nInner) + linear(nInner, nEmbd);
  const tables = config.tieWordEmbeddings ? 1 : 2;
  return {
    weightBytes: tables * linear(nEmbd, vocabSize) + nPositions * row(nEmbd) + norm + nLayer * layer,
    largestWeightBytes: largestWeightBytes(config, dtype),
    kvCacheBytes: 2 * nLayer * cacheBufferBytes(config, engine),
  };
}

/** Throws out_of_memory where a buffer would be larger than the adapter allows, saying what would fit. */
export function checkFits(config: Gpt2Config, engine: EngineSizes, limits: BufferLimits): void {
  const limit = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
  const { dtype } = engine;
  if (largestWeightBytes(config, dtype) > limit) {
    const smaller = (["f16", "q8", "q4"] as const).find((other) => largestWeightBytes(config, other) <= limit);
    throw tooLarge("The largest of this model's weights", largestWeightBytes(config, dtype), limit, {
      param: "dtype",
      advice: smaller ? `dtype "${smaller}" would fit` : "No dtype would fit: choose a smaller model",
    });
  }
  const cacheBytes = cacheBufferBytes(config, engine);
  if (cacheBytes > limit) {
    const most = Math.floor(limit / (cacheBytes / engine.numGpuBlocks));
    const kvCacheBytes = (2 * config.nLayer * cacheBytes * most) / engine.numGpuBlocks;
    throw tooLarge("One layer's keys in the cache", cacheBytes, limit, {
      param: "kvCacheBytes",
      advice: `kvCacheBytes ${kvCacheBytes} (${most} blocks) would fit`,
    });
  }
  const logitsRow = 4 * strideOf(config.vocabSize);
  const samples = Math.ceil(engine.maxNumSeqs / 32) * 32;
  if (samples * logitsRow > limit) {
    const most = Math.floor(limit / logitsRow / 32) * 32;
    throw tooLarge("A step's logits", samples * logitsRow, limit, {
      param: "maxNumSeqs",
      advice: most > 0 ? `maxNumSeqs ${most} would fit` : "Choose a model with a smaller vocabulary",
    });
  }
}

/** The embedding and the head are split where they are too large. */
function largestWeightBytes({ nEmbd, nInner, nPositions }: Gpt2Config, dtype: WeightsDtype): number {
  const matrices = [3 * nEmbd, nInner].map((n) => packedBytes(nEmbd, n, dtype));
  return Math.max(...matrices, packedBytes(nInner, nEmbd, dtype), 4 * nPositions * strideOf(nEmbd));
}

/** Of the keys, or the values, of one layer. */
function cacheBufferBytes(config: Gpt2Config, engine: EngineSizes): number {
  const bytesPerNumber = engine.kvCacheDtype === "f16" ? 2 : 4;
  return engine.numGpuBlocks * engine.blockSize * config.nHead * 4 * headVec4(config) * bytesPerNumber;
}

function tooLarge(what: string, bytes: number, limit: number, { param, advice }: { param: string; advice: string }) {
  const message = `${what} would take ${bytes} bytes; this adapter binds at most ${limit} at once. ${advice}.`;
  return new ChorusError("out_of_memory", message, param);
}
