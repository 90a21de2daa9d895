// Weights of the layers that Llama-type checkpoints are made of, by their modules' names.

import type { ModelShape } from "../protocol/model-shape.ts";
import type { HeadNorms, Matrix, RmsNormWeights, RowLinear, TensorRows } from "./graph.ts";

/** Returns an embedding or a head: a row for each token. */
export function tokenTable(name: string, { vocabSize, hiddenSize }: ModelShape): Matrix {
  return outIn([{ name: `${name}.weight`, outputs: vocabSize }], hiddenSize);
}

/** Returns an nn.Linear: y = x W^T + b, with W [out, in]. */
export function nnLinear(name: string, inputs: number, outputs: number, { bias = false } = {}): RowLinear {
  return joinedLinear([{ name, outputs }], inputs, bias);
}

interface QkvOptions {
  /** [false] */
  readonly bias?: boolean;
  /** First values of a head that turn in halves, as the checkpoint has them. [all] */
  readonly rotated?: number;
  /** The module that has all three. [q_proj, k_proj, v_proj] */
  readonly fused?: string | undefined;
}

/** Returns queries, keys and values of an attention module as one product. */
export function qkvLinear(
  module: string,
  { numHeads, numKvHeads, headDim, hiddenSize }: ModelShape,
  { bias = false, rotated = headDim, fused }: QkvOptions = {},
): RowLinear {
  const [queries, keys] = [numHeads * headDim, numKvHeads * headDim];
  const heads = (rows: number) => (rotated === headDim ? {} : { heads: { inHalves: rotated, rows } });
  const projections = fused
    ? [{ name: `${module}.${fused}`, outputs: queries + 2 * keys, ...heads(queries + keys) }]
    : [
        { name: `${module}.q_proj`, outputs: queries, ...heads(queries) },
        { name: `${module}.k_proj`, outputs: keys, ...heads(keys) },
        { name: `${module}.v_proj`, outputs: keys },
      ];
  return joinedLinear(projections, hiddenSize, bias);
}

/** Returns the products into a feed-forward part. @param modules gate null: there is none; as up: one module has both */
export function gateUpLinears(
  layer: string,
  { gate, up }: { readonly gate: string | null; readonly up: string },
  inputs: number,
  outputs: number,
  { bias = false } = {},
): readonly [gate: RowLinear | null, up: RowLinear] {
  const rowsFrom = (name: string, firstRow: number) =>
    joinedLinear([{ name: `${layer}.${name}`, outputs, within: { firstRow, numRows: 2 * outputs } }], inputs, bias);
  if (gate === up) return [rowsFrom(gate, 0), rowsFrom(up, outputs)];
  const own = (name: string) => nnLinear(`${layer}.${name}`, inputs, outputs, { bias });
  return [gate === null ? null : own(gate), own(up)];
}

type RmsNormOptions = Pick<RmsNormWeights, "epsilon" | "weightOffset" | "weightFactor">;

export function rmsNorm(name: string, width: number, options: RmsNormOptions): RmsNormWeights {
  return { kind: "rms", weight: { tensors: [{ name: `${name}.weight`, shape: [width] }] }, ...options };
}

interface HeadNormOptions extends Pick<HeadNorms, "over" | "afterRotation"> {
  readonly names?: readonly [queries: string, keys: string] | undefined;
  /** First values of a head that turn in halves, as the checkpoint has their weights. [all] */
  readonly rotated?: number;
}

export function headNorms(
  module: string,
  { headDim, numHeads, numKvHeads }: ModelShape,
  options: RmsNormOptions,
  { names = ["q_norm", "k_norm"], rotated = headDim, ...kind }: HeadNormOptions,
): HeadNorms {
  const normOf = (name: string, heads: number): RmsNormWeights => {
    const width = kind.over === "head" ? headDim : heads * headDim;
    const tensor = { name: `${module}.${name}.weight`, shape: [width] };
    const inOrder = rotated === headDim ? tensor : { ...tensor, heads: { inHalves: rotated, rows: width } };
    return { kind: "rms", weight: { tensors: [inOrder] }, ...options };
  };
  return { queries: normOf(names[0], numHeads), keys: normOf(names[1], numKvHeads), ...kind };
}

interface Rows extends Pick<TensorRows, "within" | "heads"> {
  readonly name: string;
  readonly outputs: number;
}

/** Returns several nn.Linear of one input as one, whose outputs follow one another. */
export function joinedLinear(modules: readonly Rows[], inputs: number, bias = false): RowLinear {
  const weights = modules.map(({ name, ...rows }) => ({ name: `${name}.weight`, ...rows }));
  const biases = modules.map(({ name, outputs, ...rows }) => ({ name: `${name}.bias`, shape: [outputs], ...rows }));
  const matrix = outIn(weights, inputs);
  return bias ? { matrix, bias: { tensors: biases } } : { matrix };
}

function outIn(rows: readonly Rows[], inputs: number): RowLinear["matrix"] {
  return {
    tensors: rows.map(({ outputs, ...own }) => ({ ...own, shape: [outputs, inputs] })),
    inputs,
    outputs: rows.reduce((sum, { outputs }) => sum + outputs, 0),
    layout: "out-in",
  };
}
