// The functions that the kernels' module exports. Addresses, strides and sizes are bytes; `bytes` are those of a row.

import type { Exported } from "../wasm/signature.ts";

/**
 * A product, once for each layout of weights. `w`, `bias` (0: none) and `y`: of the first group of columns; kBytes: of a row of x
 * with its padding; `totals`: a scratch of SCRATCH_BYTES.
 */
export const PRODUCT = "x xStride w bias y yStride kBytes groups rows totals epilogue: i32";
/** An embedding, likewise. `bytes`: with the padding, a multiple of 128; `scratch`: a panel's chunk as f32. */
export const EMBED = "w token y bytes: i32, scale: f32, scratch: i32";

export const KERNELS = {
  add: "y x bytes: i32",
  /**
   * `q` and `y`: of the first query head to compute; `keys` and `values`: of block 0 and that head's key head; blockBytes: of a
   * block's keys, all heads; `table`: the slot's block ids; `heads`: query heads to compute; groupHead: the first one's place among
   * those that share its key head.
   */
  attend: "q y keys values blockBytes table first length scores pitch heads groupHead: i32, scale: f32",
  barrier: "at target spins maxNaps: i32 -> i32",
  /** `keys`, `values`: of the block and the first head; `token`: in the block. */
  cache_write: "k v keys values token heads: i32",
  count_above: "logits bytes: i32, value: f32 -> i32",
  /** Makes [q | k | v] after the convolution a row of inputs, b being those of the row before it. */
  delta_inputs: "inputs b rate dtBias: i32",
  /** Takes rows of inputs into a head's state, in place, and writes what it answers to their queries. */
  delta_rule: "state q v beta stride y yStride rows: i32",
  draw: "logits bytes: i32, temperature: f32, seedLow seedHigh outputIndex: i32 -> i32",
  entropy_of: "logits weights bytes: i32, highest temperature total logTotal: f32 -> f32",
  forbid_below: "logits values bytes key: i32",
  forbid_lighter: "logits weights bytes: i32, least: f32",
  gather: "values bytes key ids: i32 -> i32",
  histogram: "values masses bytes bins: i32",
  layer_norm: "x y gamma beta bytes width: i32, epsilon: f32",
  log: "x: f32 -> f32",
  logprobs_of: "logits out bytes: i32, highest temperature logTotal: f32",
  masses_of: "weights masses bytes: i32, total: f32",
  multiply: "y a b bytes: i32",
  multiply_add: "y a b bytes: i32",
  /** y = y sigmoid(x), and y = y SiLU(x). */
  multiply_sigmoid: "y x bytes: i32",
  multiply_silu: "y x bytes: i32",
  quantise_rows: "x xStride kBytes rows target: i32",
  rms_norm: "x y gamma bytes width: i32, epsilon: f32",
  rotate: "x heads angles: i32",
  softmax_of: "logits bytes out: i32",
  typicality_of: "logits out bytes: i32, highest temperature entropy logTotal: f32",
  weigh: "logits weights bytes: i32, highest temperature: f32 -> f32",
} as const;

/** The kernels that only some modules have: with shared memory, or activations in int8. */
type Optional = "barrier" | "quantise_rows";

/** The module's exports. Those of delta nets are there if the model has any. */
export type Kernels = {
  readonly [Name in Exclude<keyof typeof KERNELS, Optional>]: Exported<(typeof KERNELS)[Name]>;
} & { readonly [Name in Optional]?: Exported<(typeof KERNELS)[Name]> } & {
  readonly [product: `product_${string}`]: Exported<typeof PRODUCT> | undefined;
  readonly [embed: `embed_${string}`]: Exported<typeof EMBED> | undefined;
};
