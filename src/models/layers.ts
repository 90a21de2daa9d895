// Weights of the layers that Llama-type checkpoints are made of, by their modules' names.

import type { ModelShape } from "../protocol/model-shape.ts";
import type { HeadNorms, Matrix, RmsNormWeights, RowLinear } from "./graph.ts";

/** Returns an embedding or a head: a row for each token. */
export function tokenTable(name: string, { vocabSize, hiddenSize }: ModelShape): Matrix {
  return outIn([{ name: `${name}.weight`, outputs: vocabSize }], hiddenSize);
}

/** Returns an nn.Linear: y = x W^T + b, with W [out, in]. */
export function nnLinear(name: string, inputs: number, outputs: number, { bias = false } = {}): RowLinear {
  return joinedLinear([{ name, outputs }], inputs, bias);
}

/** Returns queries, keys and values of an attention module as one product. */
export function qkvLinear(module: string, shape: ModelShape, { bias = false } = {}): RowLinear {
  const outputs = (heads: number) => heads * shape.headDim;
  const projections = [
    { name: `${module}.q_proj`, outputs: outputs(shape.numHeads) },
    { name: `${module}.k_proj`, outputs: outputs(shape.numKvHeads) },
    { name: `${module}.v_proj`, outputs: outputs(shape.numKvHeads) },
  ];
  return joinedLinear(projections, shape.hiddenSize, bias);
}

interface RmsNormOptions {
  readonly epsilon: number;
  /** See NormWeights. [0] */
  readonly weightOffset?: number;
}

export function rmsNorm(name: string, width: number, { epsilon, weightOffset = 0 }: RmsNormOptions): RmsNormWeights {
  return { kind: "rms", weight: { tensors: [{ name: `${name}.weight`, shape: [width] }] }, epsilon, weightOffset };
}

/** Returns the norms of an attention module's queries and keys. */
export function headNorms(module: string, { headDim }: ModelShape, options: RmsNormOptions): HeadNorms {
  return {
    queries: rmsNorm(`${module}.q_norm`, headDim, options),
    keys: rmsNorm(`${module}.k_norm`, headDim, options),
  };
}

interface Rows {
  readonly name: string;
  readonly outputs: number;
}

/** Returns several nn.Linear of one input as one, whose outputs follow one another. */
function joinedLinear(modules: readonly Rows[], inputs: number, bias: boolean): RowLinear {
  const weights = modules.map(({ name, outputs }) => ({ name: `${name}.weight`, outputs }));
  const biases = modules.map(({ name, outputs }) => ({ name: `${name}.bias`, shape: [outputs] }));
  const matrix = outIn(weights, inputs);
  return bias ? { matrix, bias: { tensors: biases } } : { matrix };
}

function outIn(rows: readonly Rows[], inputs: number): RowLinear["matrix"] {
  return {
    tensors: rows.map(({ name, outputs }) => ({ name, shape: [outputs, inputs] })),
    inputs,
    outputs: rows.reduce((sum, { outputs }) => sum + outputs, 0),
    layout: "out-in",
  };
}
