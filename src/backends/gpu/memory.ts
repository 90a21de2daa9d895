// The memory that a model takes on the GPU, computed before it is loaded.

import type { Model } from "../../models/model.ts";
import { dtypesOf } from "../../models/weight-layouts.ts";
import { byteSize } from "../../protocol/byte-size.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { cacheBytes, kvBytesPerToken, numStateSlots, stateBytesPerLayer } from "../../protocol/model-shape.ts";
import type { EngineSizes, ModelMemory } from "../backend.ts";
import { planWeights } from "../planned-weights.ts";
import { MAX_HEAD_SIZE } from "./kernels/attention.ts";
import { matrixBytes } from "./matrix-layout.ts";
import { strideOf } from "./padding.ts";

/** The limits of a buffer's size. WebGPU does not report the total memory. */
type BufferLimits = Pick<GPUSupportedLimits, "maxBufferSize" | "maxStorageBufferBindingSize">;

export function modelMemory(model: Model, sizes: EngineSizes): ModelMemory {
  return {
    weightBytes: weightBuffers(model, sizes.dtype).reduce((sum, { bytes }) => sum + bytes, 0),
    kvCacheBytes: cacheBytes(model.shape, sizes),
  };
}

/**
 * @throws ChorusError out_of_memory if a buffer would be larger than the adapter allows, saying what would fit;
 * model_unsupported for heads that are too large for the attention kernels
 */
export function checkFits(model: Model, sizes: EngineSizes, limits: BufferLimits): void {
  const { shape } = model;
  if (shape.headDim > MAX_HEAD_SIZE) {
    const message = `Heads of ${shape.headDim} values are not supported; at most ${MAX_HEAD_SIZE} are.`;
    throw new ChorusError("model_unsupported", message, "config.json");
  }
  if (shape.states && shape.states.keyDim % 4 !== 0) {
    const message = `Keys of ${shape.states.keyDim} values in linear attention are not supported; multiples of 4 are.`;
    throw new ChorusError("model_unsupported", message, "config.json");
  }
  const limit = Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize);
  const largest = largestWeightBytes(model, sizes.dtype);
  if (largest > limit) {
    const smaller = dtypesOf(model).find((other) => largestWeightBytes(model, other) <= limit);
    throw tooLarge("The largest of this model's weights", largest, limit, {
      param: "dtype",
      advice: smaller ? `dtype "${smaller}" would fit` : "No dtype would fit: choose a smaller model",
    });
  }
  const blockBytes = sizes.blockSize * kvBytesPerToken(shape, sizes.kvCacheDtype);
  if (sizes.numGpuBlocks * blockBytes > limit) {
    const most = Math.floor(limit / blockBytes);
    const kvCacheBytes = cacheBytes(shape, { ...sizes, numGpuBlocks: most });
    throw tooLarge("One layer's keys in the cache", sizes.numGpuBlocks * blockBytes, limit, {
      param: "kvCacheBytes",
      advice: `kvCacheBytes ${kvCacheBytes} (${most} blocks) would fit`,
    });
  }
  const slots = numStateSlots(shape, sizes);
  const slotBytes = stateBytesPerLayer(shape);
  if (slots * slotBytes > limit) {
    const most = Math.floor((sizes.numGpuBlocks * Math.floor(limit / slotBytes)) / slots);
    throw tooLarge("One layer's states of sequences", slots * slotBytes, limit, {
      param: "kvCacheBytes",
      advice: `kvCacheBytes ${cacheBytes(shape, { ...sizes, numGpuBlocks: most })} (${most} blocks) would fit`,
    });
  }
  const logitsRow = 4 * strideOf(shape.vocabSize);
  const samples = Math.ceil(sizes.maxNumSeqs / 32) * 32;
  if (samples * logitsRow > limit) {
    const most = Math.floor(limit / logitsRow / 32) * 32;
    throw tooLarge("A step's logits", samples * logitsRow, limit, {
      param: "maxNumSeqs",
      advice: most > 0 ? `maxNumSeqs ${most} would fit` : "Choose a model with a smaller vocabulary",
    });
  }
}

interface WeightBuffer {
  readonly bytes: number;
  /** Whether it may be split if it is too large to be bound at once. */
  readonly canBeSplit: boolean;
}

function largestWeightBytes(model: Model, dtype: WeightsDtype): number {
  return Math.max(
    ...weightBuffers(model, dtype)
      .filter(({ canBeSplit }) => !canBeSplit)
      .map(({ bytes }) => bytes),
  );
}

/** Returns every buffer of weights that model-buffers.ts uploads. */
function weightBuffers(model: Model, dtype: WeightsDtype): readonly WeightBuffer[] {
  const { matrices, rows } = planWeights(model, dtype);
  const ofMatrices = [...matrices.values()].flatMap(({ inputs, parts, isTransposed }) =>
    parts.flatMap(({ outputs, layout }) => [
      { bytes: matrixBytes(inputs, outputs, layout), canBeSplit: isTransposed },
      { bytes: 4 * strideOf(outputs), canBeSplit: false },
    ]),
  );
  const ofRows = Array.from(rows.values(), (one) => ({
    bytes: 4 * one.rows * strideOf(one.columns),
    canBeSplit: false,
  }));
  return [...ofMatrices, ...ofRows];
}

function tooLarge(what: string, bytes: number, limit: number, { param, advice }: { param: string; advice: string }) {
  const message = `${what} would take ${byteSize(bytes)}; this adapter binds at most ${byteSize(limit)} at once. ${advice}.`;
  return new ChorusError("out_of_memory", message, param);
}
