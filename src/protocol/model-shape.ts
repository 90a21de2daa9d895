import type { KvCacheDtype } from "./config.ts";

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
}

/** Returns the number of a head's values in the cache: its size, padded so that four are read at once. */
export function paddedHeadDim({ headDim }: Pick<ModelShape, "headDim">): number {
  return 4 * Math.ceil(headDim / 4);
}

/** Returns the bytes of one layer's keys (or its values) in the cache, per token. */
export function kvBytesPerToken(shape: Pick<ModelShape, "numKvHeads" | "headDim">, kvCacheDtype: KvCacheDtype): number {
  return shape.numKvHeads * paddedHeadDim(shape) * (kvCacheDtype === "f32" ? 4 : 2);
}

/** Returns the bytes of one cache block: keys and values of all layers. */
export function kvBytesPerBlock(
  shape: Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim">,
  kvCacheDtype: KvCacheDtype,
  blockSize: number,
): number {
  return 2 * shape.numLayers * blockSize * kvBytesPerToken(shape, kvCacheDtype);
}
