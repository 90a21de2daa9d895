import type { KvCacheDtype, ResolvedEngineConfig } from "./config.ts";

/** All that engine, cache, memory and benchmark know about a model of any family. */
export interface ModelShape {
  readonly numLayers: number;
  /** Width of the residual stream. */
  readonly hiddenSize: number;
  /** Query heads. */
  readonly numHeads: number;
  /** Heads of keys and values; numHeads is a multiple of it. */
  readonly numKvHeads: number;
  readonly headDim: number;
  readonly vocabSize: number;
  /** Longest sequence, in tokens. */
  readonly maxPositions: number;
  /** Layers that have a short convolution in place of attention. [none] */
  readonly convs?: ConvShape;
  /** Layers that keep a state of each sequence in place of keys and values. [none] */
  readonly states?: StateShape;
}

/** What a layer keeps of a sequence: rows of a convolution, and for each head a matrix [keyDim, valueDim], all in f32. */
interface StateShape {
  readonly numLayers: number;
  readonly convWidth: number;
  /** Rows before its own that a row reads. */
  readonly convRows: number;
  readonly numHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
}

interface ConvShape {
  readonly numLayers: number;
  readonly width: number;
  /** Rows before its own that a row reads. */
  readonly numRows: number;
}

/** Returns the number of a head's values in the cache: its size, padded so that four are read at once. */
export function paddedHeadDim({ headDim }: Pick<ModelShape, "headDim">): number {
  return 4 * Math.ceil(headDim / 4);
}

/** Returns the bytes of one layer's keys (or its values) in the cache, per token. */
export function kvBytesPerToken(shape: Pick<ModelShape, "numKvHeads" | "headDim">, kvCacheDtype: KvCacheDtype): number {
  return shape.numKvHeads * paddedHeadDim(shape) * (kvCacheDtype === "f32" ? 4 : 2);
}

/** Number of layers whose keys and values are in the cache. */
export function numKvLayers({ numLayers, convs, states }: Pick<ModelShape, "numLayers" | "convs" | "states">): number {
  return numLayers - (convs?.numLayers ?? 0) - (states?.numLayers ?? 0);
}

/**
 * Returns the number of rows that a convolution keeps in each block: those that the next row reads. Rejected drafts may be
 * written over more, so with drafts each token has its own.
 */
export function convRowsPerBlock(
  { convs }: Pick<ModelShape, "convs">,
  { blockSize, speculation }: BlockConfig,
): number {
  if (!convs) return 0;
  return speculation ? blockSize : Math.min(blockSize, convs.numRows);
}

/** Tokens of the cache for which there is a slot for a state. */
const TOKENS_PER_STATE = 1024;

/** Returns the number of slots for states of sequences beside a cache of so many blocks; 0 if the model has no states. */
export function numStateSlots(
  { states }: Pick<ModelShape, "states">,
  { numGpuBlocks, blockSize }: Pick<ResolvedEngineConfig, "numGpuBlocks" | "blockSize">,
): number {
  // A sequence goes on from a state that is kept: that takes two.
  return states ? Math.max(2, Math.floor((numGpuBlocks * blockSize) / TOKENS_PER_STATE)) : 0;
}

/** Returns the bytes of one sequence's state in one layer: rows of the convolution, then the matrices of its heads. */
export function stateBytesPerLayer({ states }: Pick<ModelShape, "states">): number {
  if (!states) return 0;
  const { convWidth, convRows, numHeads, keyDim, valueDim } = states;
  return 4 * (convRows * convWidth + numHeads * keyDim * valueDim);
}

export function stateBytes(shape: Pick<ModelShape, "states">): number {
  return (shape.states?.numLayers ?? 0) * stateBytesPerLayer(shape);
}

type BlockConfig = Pick<ResolvedEngineConfig, "blockSize"> & Partial<Pick<ResolvedEngineConfig, "speculation">>;

/** Returns the bytes of one cache block: keys and values of all layers, and the rows of convolutions. */
export function kvBytesPerBlock(
  shape: Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim" | "convs" | "states">,
  engine: BlockConfig & Pick<ResolvedEngineConfig, "kvCacheDtype">,
): number {
  const convBytes = 4 * (shape.convs?.numLayers ?? 0) * convRowsPerBlock(shape, engine) * convStride(shape);
  return 2 * numKvLayers(shape) * engine.blockSize * kvBytesPerToken(shape, engine.kvCacheDtype) + convBytes;
}

/** Returns the bytes of a cache: its blocks, and the states of sequences. */
export function cacheBytes(
  shape: Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim" | "convs" | "states">,
  engine: BlockConfig & Pick<ResolvedEngineConfig, "kvCacheDtype" | "numGpuBlocks">,
): number {
  return engine.numGpuBlocks * kvBytesPerBlock(shape, engine) + numStateSlots(shape, engine) * stateBytes(shape);
}

/** Returns the number of values from one kept row of a convolution to the next. */
export function convStride({ convs }: Pick<ModelShape, "convs">): number {
  return 4 * Math.ceil((convs?.width ?? 0) / 4);
}
