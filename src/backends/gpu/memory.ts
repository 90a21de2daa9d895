// The memory that a model takes on the GPU, computed before it is loaded.

import type { Model } from "../../models/model.ts";
import { dtypesOf } from "../../models/weight-layouts.ts";
import { byteSize } from "../../protocol/byte-size.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { cacheBytes, kvBytesPerToken, numStateSlots, stateBytesPerLayer } from "../../protocol/model-shape.ts";
import type { EngineSizes, ModelMemory } from "../backend.ts";
import { planWeights } from "../planned-weights.ts";
import { largestBuffer, type BufferLimits } from "./arena.ts";
import { MAX_HEAD_SIZE } from "./kernels/attention.ts";
import { matrixBytes } from "./matrix-layout.ts";
import { strideOf } from "./padding.ts";

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
  const limit = largestBuffer({ limits });
  const check = (what: string, bytes: number, param: string, advice: () => string) => {
    if (bytes <= limit) return;
    const message = `${what} would take ${byteSize(bytes)}; this adapter binds at most ${byteSize(limit)} at once. ${advice()}.`;
    throw new ChorusError("out_of_memory", message, param);
  };
  const thatFit = (blocks: number) =>
    `kvCacheBytes ${cacheBytes(shape, { ...sizes, numGpuBlocks: blocks })} (${blocks} blocks) would fit`;
  check("The largest of this model's weights", largestWeightBytes(model, sizes.dtype), "dtype", () => {
    const smaller = dtypesOf(model).find((other) => largestWeightBytes(model, other) <= limit);
    return smaller ? `dtype "${smaller}" would fit` : "No dtype would fit: choose a smaller model";
  });
  const blockBytes = sizes.blockSize * kvBytesPerToken(shape, sizes.kvCacheDtype);
  check("One layer's keys in the cache", sizes.numGpuBlocks * blockBytes, "kvCacheBytes", () =>
    thatFit(Math.floor(limit / blockBytes)),
  );
  const slots = numStateSlots(shape, sizes);
  const slotBytes = stateBytesPerLayer(shape);
  check("One layer's states of sequences", slots * slotBytes, "kvCacheBytes", () =>
    thatFit(Math.floor((sizes.numGpuBlocks * Math.floor(limit / slotBytes)) / slots)),
  );
  const logitsRow = 4 * strideOf(shape.vocabSize);
  const samples = Math.ceil(sizes.maxNumSeqs / 32) * 32;
  check("A step's logits", samples * logitsRow, "maxNumSeqs", () => {
    const most = Math.floor(limit / logitsRow / 32) * 32;
    return most > 0 ? `maxNumSeqs ${most} would fit` : "Choose a model with a smaller vocabulary";
  });
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
