import type { Gpt2Config } from "../models/gpt2/gpt2-config.ts";
import type { Gpt2Weights } from "../models/gpt2/gpt2-weights.ts";
import { randomFloats } from "./gpu.ts";
import { tensorOf } from "./tensors.ts";

/** A GPT-2 of any shape with random weights, small enough that nothing overflows: for measuring, not for reading. */
export function randomGpt2(shape: {
  nLayer: number;
  nEmbd: number;
  nHead: number;
  nPositions: number;
  vocabSize: number;
}): Gpt2Weights {
  const { nLayer, nEmbd, nHead, vocabSize, nPositions } = shape;
  const config: Gpt2Config = {
    ...shape,
    headDim: nEmbd / nHead,
    nInner: 4 * nEmbd,
    activation: "gelu_new",
    layerNormEpsilon: 1e-5,
    scaleAttnWeights: true,
    scaleAttnByInverseLayerIdx: false,
    tieWordEmbeddings: true,
    bosTokenId: 0,
    eosTokenIds: [],
  };
  const vector = (length: number, seed: number) => tensorOf(randomFloats(length, seed, 0.05), 1, length);
  const matrix = (rows: number, columns: number, seed: number) =>
    tensorOf(randomFloats(rows * columns, seed, 0.05), rows, columns);
  const norm = {
    weight: tensorOf(new Float32Array(nEmbd).fill(1), 1, nEmbd),
    bias: tensorOf(new Float32Array(nEmbd), 1, nEmbd),
  };
  const linear = (inputs: number, outputs: number, seed: number) => ({
    weight: matrix(inputs, outputs, seed),
    bias: vector(outputs, seed + 1),
  });
  return {
    config,
    numParameters: NaN,
    wte: matrix(vocabSize, nEmbd, 1),
    wpe: matrix(nPositions, nEmbd, 2),
    layers: Array.from({ length: nLayer }, (_, index) => ({
      ln1: norm,
      qkv: linear(nEmbd, 3 * nEmbd, 10 * index + 3),
      proj: linear(nEmbd, nEmbd, 10 * index + 5),
      ln2: norm,
      fc: linear(nEmbd, 4 * nEmbd, 10 * index + 7),
      fcProj: linear(4 * nEmbd, nEmbd, 10 * index + 9),
    })),
    lnF: norm,
    lmHead: null,
  };
}
