import { maxSequenceLength } from "../../../engine/scheduling/admission.ts";
import type { Graph, Operation, Value, ValueShape } from "../../../models/graph.ts";
import type { ResolvedEngineConfig } from "../../../protocol/config.ts";
import { paddedHeadDim, type ModelShape } from "../../../protocol/model-shape.ts";
import type { Activations } from "../activations.ts";
import type { Arena } from "../arena.ts";
import type { OpenedDevice } from "../device.ts";
import type { Dispatch, KernelCompiler, StepSize } from "../kernel.ts";
import type { LaterPipelines } from "../later-pipelines.ts";
import type { LaterTiles } from "../later-tiles.ts";
import type { MatmulVariant } from "../matmul-variants.ts";
import type { ModelBuffers } from "../model-buffers.ts";
import { strideOf } from "../padding.ts";
import type { StepBuffer } from "../step-buffer.ts";

/** A compiled and bound operation. Returns the dispatches that a step of this size needs; they exist before the step. */
export type CompiledOperation = (step: StepSize) => readonly Dispatch[];

/** How a style of kernels computes each operation of a graph. */
export type Operations = {
  readonly [Type in Operation["type"]]: (
    operation: Extract<Operation, { type: Type }>,
  ) => Promise<CompiledOperation | readonly CompiledOperation[]>;
};

/** A model's buffers on a device, and the compilers of its kernels. */
export interface ModelContext extends Pick<OpenedDevice, "device" | "poller" | "hasFewRegisters"> {
  readonly compiler: KernelCompiler;
  /** Compiles pipelines that the first step can do without. */
  readonly later: LaterPipelines;
  readonly arena: Arena;
  readonly graph: Graph;
  readonly shape: ModelShape;
  /** Tokens that may be drawn. */
  readonly vocabSize: number;
  readonly engine: ResolvedEngineConfig;
  readonly buffers: ModelBuffers;
  readonly activations: Activations;
  readonly step: StepBuffer;
}

export interface OperationContext extends ModelContext {
  /** The chosen kernels by ascending rows: see matmul-variants.ts. */
  readonly matmuls: readonly MatmulVariant[];
  /** The same for packed weights, where activations are integers; null where they are floats. */
  readonly integerMatmuls: readonly MatmulVariant[] | null;
  /** How attention tiles rows, once its kernels for that are compiled. */
  readonly tiles: LaterTiles;
}

export function compileOperation(operations: Operations, operation: Operation): ReturnType<Operations["norm"]> {
  const compile = operations[operation.type] as (operation: Operation) => ReturnType<Operations["norm"]>;
  return compile(operation);
}

/** Returns an operation with the same dispatches for every step. */
export function always(...dispatches: Dispatch[]): CompiledOperation {
  return () => dispatches;
}

export function valueOf({ graph }: Pick<OperationContext, "graph">, value: Value): ValueShape {
  const shape = graph.values[value];
  if (shape === undefined) throw new RangeError(`the graph has no value ${value}`);
  return shape;
}

/** Returns the constants of the kernels that read or write the cache. */
export function cacheConstants({ shape, engine, graph }: Pick<OperationContext, "shape" | "engine" | "graph">) {
  const { numHeads, numKvHeads, headDim } = shape;
  const attention = graph.operations.find((operation) => operation.type === "attention");
  const qkv = attention && graph.values[attention.input];
  return {
    HEADS: numHeads,
    KV_HEADS: numKvHeads,
    HEAD_VEC4: paddedHeadDim(shape) / 4,
    BLOCK_SIZE: engine.blockSize,
    MAX_BLOCKS: Math.ceil(maxSequenceLength(engine) / engine.blockSize),
    CACHE_F16: engine.kvCacheDtype === "f16",
    HEAD_SIZE: headDim,
    QKV_STRIDE: strideOf(qkv?.width ?? 0), // other columns may follow the values
  };
}
