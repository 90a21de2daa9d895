// The minimal bytes and operations of a dispatch: each weight, each input and each output once.

import type { ObservedPipeline } from "./gpu-listener.ts";

export interface KernelCost {
  readonly bytes: number;
  readonly flops: number;
}

export interface StepShape {
  readonly rows: number;
  readonly samples: number;
  /** Positions that a row attends to, on average. */
  readonly context: number;
  /** Positions in the cache that are read, over all rows: a block that several rows of a prompt share counts once. */
  readonly cachedPositions: number;
}

export type KernelClass = "matmul" | "attention" | "head and sampling" | "the rest";

const FLOAT_BYTES = 4;

export function classOf({ name, constants }: ObservedPipeline): KernelClass {
  if (constants["SAMPLES_ONLY"] || name.startsWith("sample")) return "head and sampling";
  if (name.startsWith("matmul")) return "matmul";
  return name.startsWith("attention") || name === "cache-write" ? "attention" : "the rest";
}

/**
 * Returns null for kernels bound by neither bytes nor operations (norms, cache writes, sampling), and for products whose
 * sizes are data: only the first steps have those.
 */
export function costOf(
  { name, constants }: ObservedPipeline,
  boundBytes: readonly number[],
  { rows, samples, context, cachedPositions }: StepShape,
): KernelCost | null {
  const { K4 = 0, N4 = 0, Y4 = N4, SAMPLES_ONLY = 0 } = constants;
  const { HEADS = 0, KV_HEADS = HEADS, HEAD_SIZE = 0, HEAD_VEC4 = 0, CACHE_F16 = 0, WINDOW = Infinity } = constants;
  if (name.startsWith("matmul") && name !== "matmul-any") {
    const [k, n] = [4 * K4, 4 * N4];
    const height = SAMPLES_ONLY ? samples : rows;
    const [, weightBytes = 0] = boundBytes;
    // After a gate y has half as many columns; parts of a matrix write part of a wider y.
    const outputs = Math.min(n, 4 * Y4);
    return { bytes: weightBytes + FLOAT_BYTES * height * (k + outputs), flops: 2 * height * k * n };
  }
  if (name.startsWith("attention") && name !== "attention-merge") {
    const cacheBytes = 2 * KV_HEADS * 4 * HEAD_VEC4 * (CACHE_F16 ? 2 : FLOAT_BYTES);
    const rowBytes = 2 * FLOAT_BYTES * HEADS * HEAD_SIZE;
    const seen = Math.min(1, WINDOW / context);
    return {
      bytes: seen * cachedPositions * cacheBytes + rows * rowBytes,
      flops: 4 * rows * seen * context * HEADS * HEAD_SIZE,
    };
  }
  return null;
}
