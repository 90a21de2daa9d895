// A step's operations as plain data, which every thread walks. Addresses, strides and offsets are bytes.

import type { DeltaNet } from "../../../models/graph.ts";
import type { deltaOffsets } from "../kernels/delta-net.ts";
import type { EpilogueName } from "../../epilogues.ts";
import type { Kernels } from "../kernels/signatures.ts";
import type { PanelMatrix } from "../pack/panel-matrix.ts";

/** Rows of f32 in memory: of all the step's rows, or of its samples. */
export interface Rows {
  readonly address: number;
  readonly stride: number;
}

/** Tokens of a table, from `firstToken` on. */
interface TablePart {
  readonly firstToken: number;
  readonly panels: PanelMatrix;
}

/** The kernels that take a row at a time. */
export type RowKernel = "add" | "layer_norm" | "multiply" | "multiply_sigmoid" | "rms_norm" | "rotate";

/** A number; or an address of row i, or of another row: that of the position of row i, or the one that sample i is drawn from. */
type RowArgument = number | (Rows & { readonly by?: "position" | "sampledRow" });

type ForEach<Parameters extends readonly unknown[]> = { [I in keyof Parameters]: RowArgument };
export type RowArguments<K extends RowKernel> = ForEach<Parameters<Kernels[K]>>;

export interface EachRowOperation {
  readonly type: "eachRow";
  readonly of: "rows" | "samples";
  readonly kernel: RowKernel;
  readonly args: readonly RowArgument[];
}

/** y = scale table[token] */
export interface EmbedOperation {
  readonly type: "embed";
  /** Neighbouring tokens, in ascending order. */
  readonly table: readonly TablePart[];
  readonly scale: number;
  readonly y: Rows;
}

/** Copies heads that lie `from` values apart to a place where they lie `to` values apart; leaves the gaps unchanged. */
export interface CopyHeadsOperation {
  readonly type: "copyHeads";
  readonly x: Rows;
  readonly y: Rows;
  readonly heads: number;
  readonly from: number;
  readonly to: number;
}

/** y = epilogue(x w + bias); after a gate's epilogue y has half the columns of w. */
export interface LinearOperation {
  readonly type: "linear";
  readonly of: "rows" | "samples";
  readonly x: Rows;
  readonly w: PanelMatrix;
  /** Address of the bias; 0: none. */
  readonly bias: number;
  readonly y: Rows;
  readonly epilogue: EpilogueName;
}

/** One layer's part of the cache. */
export interface LayerCache {
  readonly keys: number;
  readonly values: number;
  /** Bytes of a block's keys, or values, all heads. */
  readonly blockBytes: number;
}

export interface CacheWriteOperation {
  readonly type: "cacheWrite";
  readonly k: Rows;
  readonly v: Rows;
  readonly heads: number;
  readonly cache: LayerCache;
}

/** y = softmax(scale q keys) values */
export interface AttendOperation {
  readonly type: "attend";
  readonly q: Rows;
  readonly y: Rows;
  readonly heads: number;
  readonly keyHeads: number;
  readonly headSize: number;
  readonly scale: number;
  /** Positions that a row attends to, its own included; null: all. */
  readonly window: number | null;
  readonly cache: LayerCache;
}

/** y = c * sum over t of weights[t] products[row - taps + 1 + t], products = b * x: of [b | c | x], each `width` values */
export interface ShortConvOperation {
  readonly type: "shortConv";
  readonly x: Rows;
  /** What the convolution reads, and later steps. */
  readonly products: Rows;
  readonly y: Rows;
  readonly width: number;
  readonly taps: number;
  /** [taps] */
  readonly weights: Rows;
  readonly kept: KeptRows;
}

/** The last rows of each block of the cache that a convolution keeps: position p of a block at place p % count. */
export interface KeptRows extends Rows {
  /** Of a block. */
  readonly count: number;
}

/** inputs = what a delta net makes of its input: [q | k | v | beta | decay], the first three after the convolution. */
export interface DeltaInputsOperation {
  readonly type: "deltaInputs";
  readonly x: Rows;
  readonly inputs: Rows;
  readonly net: DeltaNetPlace;
}

/** y = what the states answer, normalised and gated; the states are changed. */
export interface DeltaRuleOperation {
  readonly type: "deltaRule";
  readonly x: Rows;
  readonly inputs: Rows;
  readonly y: Rows;
  readonly net: DeltaNetPlace;
}

/** A delta net's sizes, and where its weights and states are. */
export interface DeltaNetPlace extends Pick<
  DeltaNet,
  "keyHeads" | "valueHeads" | "keyDim" | "valueDim" | "headOrder" | "taps"
> {
  readonly offsets: ReturnType<typeof deltaOffsets>;
  /** [taps] */
  readonly kernel: Rows;
  readonly rate: number;
  readonly dtBias: number;
  readonly gamma: number;
  readonly epsilon: number;
  readonly states: StatePlace;
}

/** A layer's states: in each slot rows that the convolution has read, and then the heads' matrices. */
export interface StatePlace extends Rows {
  /** Rows of the convolution. */
  readonly count: number;
  readonly rowBytes: number;
  /** Bytes of all these rows. */
  readonly rowsBytes: number;
}

export interface SampleOperation {
  readonly type: "sample";
  readonly logits: Rows;
}

/** Appends the drawn tokens to the histories: in a phase after "sample". */
interface RecordOperation {
  readonly type: "record";
}

export type Operation =
  | EachRowOperation
  | EmbedOperation
  | CopyHeadsOperation
  | LinearOperation
  | CacheWriteOperation
  | AttendOperation
  | ShortConvOperation
  | DeltaInputsOperation
  | DeltaRuleOperation
  | SampleOperation
  | RecordOperation;

/**
 * Operations in phases. Threads meet between phases. Within one, each thread goes on with its own results: its own rows
 * (all but linear, attend, deltaRule and sample share rows alike), or its own columns (linear).
 */
export type Program = readonly (readonly Operation[])[];
