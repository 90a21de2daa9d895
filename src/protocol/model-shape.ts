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
export function numKvLayers({ numLayers, convs }: Pick<ModelShape, "numLayers" | "convs">): number {
  return numLayers - (convs?.numLayers ?? 0);
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

type BlockConfig = Pick<ResolvedEngineConfig, "blockSize"> & Partial<Pick<ResolvedEngineConfig, "speculation">>;

/** Returns the bytes of one cache block: keys and values of all layers, and the rows of convolutions. */
export function kvBytesPerBlock(
  shape: Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim" | "convs">,
  engine: BlockConfig & Pick<ResolvedEngineConfig, "kvCacheDtype">,
): number {
  const convBytes = 4 * (shape.convs?.numLayers ?? 0) * convRowsPerBlock(shape, engine) * convStride(shape);
  return 2 * numKvLayers(shape) * engine.blockSize * kvBytesPerToken(shape, engine.kvCacheDtype) + convBytes;
}

/** Returns the number of values from one kept row of a convolution to the next. */
export function convStride({ convs }: Pick<ModelShape, "convs">): number {
  return 4 * Math.ceil((convs?.width ?? 0) / 4);
}
