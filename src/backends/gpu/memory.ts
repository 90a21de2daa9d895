// The memory that a model takes on the GPU, computed before it is loaded.

import { convWidthOf, type Gate, type Matrix, type Operation, type Weight } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import { dtypesOf, gateLayout, layoutsOf, type LayoutPart } from "../../models/weight-layouts.ts";
import { byteSize } from "../../protocol/byte-size.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { cacheBytes, kvBytesPerToken, numStateSlots, stateBytesPerLayer } from "../../protocol/model-shape.ts";
import type { EngineSizes, ModelMemory } from "../backend.ts";
import { gateColumns } from "../gate-weights.ts";
import { MAX_HEAD_SIZE } from "./kernels/attention.ts";
import { matrixBytes } from "./matrix-layout.ts";
import { padTo, strideOf } from "./padding.ts";

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
  const { graph } = model;
  const seen = new Set<Weight>();
  const row = (width: number): WeightBuffer => ({ bytes: 4 * strideOf(width), canBeSplit: false });
  const norm = (width: number): WeightBuffer => ({ bytes: 8 * strideOf(width), canBeSplit: false });
  const parts = ({ inputs, layout: order }: Matrix, layouts: readonly LayoutPart[]): WeightBuffer[] =>
    layouts.flatMap(({ outputs, layout }) => [
      { bytes: matrixBytes(inputs, outputs, layout), canBeSplit: order === "out-in" },
      row(outputs),
    ]);
  const matrix = (weight: Matrix): WeightBuffer[] => {
    if (seen.has(weight)) return [];
    seen.add(weight);
    return parts(weight, layoutsOf(model, weight, dtype));
  };
  const gate = (operation: Gate): WeightBuffer[] => {
    const layout = gateLayout(model, operation, dtype);
    return parts(operation.gate.matrix, [{ firstOutput: 0, outputs: gateColumns(operation), layout }]);
  };
  const positions = (weight: Weight | null): WeightBuffer[] => {
    const [rows = 0, width = 0] = weight?.tensors[0]?.shape ?? [];
    return weight ? [{ bytes: 4 * rows * strideOf(width), canBeSplit: false }] : [];
  };
  const of = (operation: Operation): WeightBuffer[] => {
    switch (operation.type) {
      case "embed":
        return [...matrix(operation.table), ...positions(operation.positions)];
      case "norm":
        return [norm(graph.values[operation.input]?.width ?? 0)];
      case "linear":
        return matrix(operation.linear.matrix);
      case "gate":
        return gate(operation);
      case "head":
        return matrix(operation.table);
      case "rotary":
        return [operation.norms?.queries, operation.norms?.keys].flatMap((one) =>
          one ? [norm(one.weight.tensors[0]?.shape[0] ?? 0)] : [],
        );
      case "shortConv":
        return [{ bytes: 4 * operation.taps * strideOf(operation.width), canBeSplit: false }];
      case "deltaNet": {
        const { taps, valueHeads, valueDim } = operation;
        const conv = { bytes: 4 * taps * strideOf(convWidthOf(operation)), canBeSplit: false };
        return [conv, { bytes: padTo(16, 8 * valueHeads), canBeSplit: false }, norm(valueDim)];
      }
      case "attention":
      case "outputGate":
        return [];
    }
  };
  return graph.operations.flatMap(of);
}

function tooLarge(what: string, bytes: number, limit: number, { param, advice }: { param: string; advice: string }) {
  const message = `${what} would take ${byteSize(bytes)}; this adapter binds at most ${byteSize(limit)} at once. ${advice}.`;
  return new ChorusError("out_of_memory", message, param);
}
