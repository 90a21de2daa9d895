// What createEngine takes. camelCase, vLLM's names.

export type WeightsDtype = "f32" | "f16";
export type KvCacheDtype = "f32" | "f16";

/** A folder's URL (absolute, or relative to the page) in Hugging Face layout, or the folder's files. */
export type ModelSource = string | File[];

/** Every field is optional; an unknown or out-of-range one is refused by name. */
export interface EngineConfig {
  /** Most sequences that run at once. [64] */
  maxNumSeqs?: number;
  /** Token budget of a step: rows of prompt and decode together. [256] */
  maxNumBatchedTokens?: number;
  /** Longest prompt plus output. [the model's context] */
  maxModelLen?: number;
  /** Tokens a cache block holds; 16 is the only supported value. [16] */
  blockSize?: number;
  /** Size of the key/value cache. [enough for 16 full contexts, at most 256 MiB] */
  kvCacheBytes?: number;
  /** Number of cache blocks; overrides kvCacheBytes. */
  numGpuBlocks?: number;
  /** How weights are kept on the GPU; sums are always f32. ["f16"] */
  dtype?: WeightsDtype;
  /** ["f16"] */
  kvCacheDtype?: KvCacheDtype;
  /** Seed of the seeds of requests that give none. [random] */
  seed?: number;
}

/** EngineConfig with everything decided, as the engine uses it. Frozen. */
export interface ResolvedEngineConfig {
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly maxModelLen: number;
  readonly blockSize: number;
  readonly numGpuBlocks: number;
  readonly dtype: WeightsDtype;
  readonly kvCacheDtype: KvCacheDtype;
  readonly seed: number;
}
