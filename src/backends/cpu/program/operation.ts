// A step's operations as plain data, which every thread walks. Addresses, strides and offsets are bytes.

import type { DeltaNet } from "../../../models/graph.ts";
import type { deltaOffsets } from "../kernels/delta-net.ts";
import type { Epilogue } from "../kernels/epilogues.ts";
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

/** y = scale table[token] + positions[position] */
export interface EmbedOperation {
  readonly type: "embed";
  /** Neighbouring tokens, in ascending order. */
  readonly table: readonly TablePart[];
  readonly scale: number;
  /** Learned positions, if there are any. */
  readonly positions: Rows | null;
  readonly y: Rows;
}

/** y = norm(x), row by row. */
export interface NormOperation {
  readonly type: "norm";
  readonly kind: "layer" | "rms";
  /** "samples": row i of y belongs to the row that sample i is drawn from. */
  readonly of: "rows" | "samples";
  readonly x: Rows;
  readonly y: Rows;
  readonly gamma: number;
  /** 0 for "rms". */
  readonly beta: number;
  readonly width: number;
  /** Bytes of a row with its padding. */
  readonly bytes: number;
  readonly epsilon: number;
}

/** y = y + x, row by row. */
export interface AddOperation {
  readonly type: "add";
  readonly x: Rows;
  readonly y: Rows;
  /** Bytes of a row with its padding. */
  readonly bytes: number;
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

/** RMSNorm of each head by itself, in place. */
export interface HeadNormOperation {
  readonly type: "headNorm";
  readonly x: Rows;
  readonly heads: number;
  readonly headSize: number;
  /** Values from one head to the next: a multiple of 4. */
  readonly headStride: number;
  readonly gamma: number;
  readonly epsilon: number;
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
  readonly epilogue: Epilogue;
}

/** Rotary positions, in place. */
export interface RotateOperation {
  readonly type: "rotate";
  readonly x: Rows;
  readonly heads: number;
  /** Cosines and sines of each position. */
  readonly angles: Rows;
}

/** One layer's part of the cache. */
export interface LayerCache {
  readonly keys: number;
  readonly values: number;
  /** Bytes of a block's keys, or values, all heads. */
  readonly blockBytes: number;
}

/** Writes the rows' keys and values into the cache. */
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

/** products = b * x, which are what the convolution reads, and later steps. */
export interface GateRowsOperation {
  readonly type: "gateRows";
  /** [b | c | x], each `width` values. */
  readonly x: Rows;
  readonly products: Rows;
  readonly width: number;
}

/** y = c * sum over t of weights[t] products[row - taps + 1 + t] */
export interface ShortConvOperation {
  readonly type: "shortConv";
  readonly x: Rows;
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

/** y = y sigmoid(gates), row by row. */
export interface OutputGateOperation {
  readonly type: "outputGate";
  readonly gates: Rows;
  readonly y: Rows;
  /** Bytes of a row, rounded up to a vector by the kernel. */
  readonly bytes: number;
}

/** Draws the step's tokens from their logits. */
export interface SampleOperation {
  readonly type: "sample";
  readonly logits: Rows;
}

/** Appends the drawn tokens to the histories: in a phase after "sample". */
interface RecordOperation {
  readonly type: "record";
}

export type Operation =
  | EmbedOperation
  | NormOperation
  | AddOperation
  | CopyHeadsOperation
  | HeadNormOperation
  | LinearOperation
  | RotateOperation
  | CacheWriteOperation
  | AttendOperation
  | GateRowsOperation
  | ShortConvOperation
  | DeltaInputsOperation
  | DeltaRuleOperation
  | OutputGateOperation
  | SampleOperation
  | RecordOperation;

/**
 * Operations in phases. Threads meet between phases. Within one, each thread goes on with its own results: its own rows
 * (all but linear, attend, deltaRule and sample share rows alike), or its own columns (linear).
 */
export type Program = readonly (readonly Operation[])[];
