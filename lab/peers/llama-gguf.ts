// A Llama or Qwen3 checkpoint under llama.cpp's names.

import type { Vocabulary } from "./checkpoint.ts";
import { describeFile, f32, ggufTensor, u32 } from "./gguf-model.ts";
import { encodeGguf, type GgufTensor, type GgufType, type GgufValue } from "./gguf.ts";
import type { LlamaLayer, LlamaWeights } from "./llama-weights.ts";

/** The parts of a GGUF file. `type` is how matrices are kept; norms are always f32. */
export function llamaToGguf(weights: LlamaWeights, vocabulary: Vocabulary, type: GgufType): Generator<Uint8Array> {
  return encodeGguf(describe(weights, vocabulary, type), listTensors(weights, type));
}

function describe(
  { config, ropeTheta }: LlamaWeights,
  vocabulary: Vocabulary,
  type: GgufType,
): Record<string, GgufValue> {
  const { numLayers, hiddenSize, numHeads, numKvHeads, headDim, vocabSize, maxPositions } = config.shape;
  const eosTokenId = config.eosTokenIds[0] ?? 0;
  const architecture = config.hasHeadNorms ? "qwen3" : "llama";
  return {
    ...describeFile(architecture, type, vocabulary, { vocabSize, bosTokenId: eosTokenId, eosTokenId }),
    [`${architecture}.vocab_size`]: u32(vocabSize),
    [`${architecture}.context_length`]: u32(maxPositions),
    [`${architecture}.embedding_length`]: u32(hiddenSize),
    [`${architecture}.feed_forward_length`]: u32(config.intermediateSize),
    [`${architecture}.block_count`]: u32(numLayers),
    [`${architecture}.attention.head_count`]: u32(numHeads),
    [`${architecture}.attention.head_count_kv`]: u32(numKvHeads),
    [`${architecture}.attention.key_length`]: u32(headDim),
    [`${architecture}.attention.value_length`]: u32(headDim),
    [`${architecture}.attention.layer_norm_rms_epsilon`]: f32(config.rmsNormEps),
    [`${architecture}.rope.dimension_count`]: u32(headDim),
    [`${architecture}.rope.freq_base`]: f32(ropeTheta),
  };
}

function listTensors({ config, embedding, layers, norm, head }: LlamaWeights, type: GgufType): GgufTensor[] {
  const { hiddenSize, numHeads, numKvHeads, headDim, vocabSize } = config.shape;
  const [queryWidth, keyWidth] = [numHeads * headDim, numKvHeads * headDim];
  const vector = (name: string, values: Float32Array) => ggufTensor(`${name}.weight`, [values.length], () => values);
  const matrix = (name: string, inputs: number, outputs: number, values: () => Float32Array) =>
    ggufTensor(`${name}.weight`, [inputs, outputs], values, type);
  const layer = ({ attnNorm, qkv, o, mlpNorm, gate, up, down, headNorms }: LlamaLayer, index: number) => {
    const name = (part: string) => `blk.${index}.${part}`;
    const rows = (begin: number, end: number) => qkv.subarray(begin * hiddenSize, end * hiddenSize);
    const queries = rows(0, queryWidth);
    const keys = rows(queryWidth, queryWidth + keyWidth);
    const values = rows(queryWidth + keyWidth, queryWidth + 2 * keyWidth);
    // The architecture "qwen3" keeps Hugging Face's order.
    const ordered = (part: Float32Array) => (headNorms ? part : pairNeighbours(part, hiddenSize, headDim));
    return [
      vector(name("attn_norm"), attnNorm),
      matrix(name("attn_q"), hiddenSize, queryWidth, () => ordered(queries)),
      matrix(name("attn_k"), hiddenSize, keyWidth, () => ordered(keys)),
      ...(headNorms ? [vector(name("attn_q_norm"), headNorms.query), vector(name("attn_k_norm"), headNorms.key)] : []),
      matrix(name("attn_v"), hiddenSize, keyWidth, () => values),
      matrix(name("attn_output"), queryWidth, hiddenSize, () => o),
      vector(name("ffn_norm"), mlpNorm),
      matrix(name("ffn_gate"), hiddenSize, config.intermediateSize, () => gate),
      matrix(name("ffn_up"), hiddenSize, config.intermediateSize, () => up),
      matrix(name("ffn_down"), config.intermediateSize, hiddenSize, () => down),
    ];
  };
  return [
    matrix("token_embd", hiddenSize, vocabSize, () => embedding),
    ...layers.flatMap(layer),
    vector("output_norm", norm),
    ...(head ? [matrix("output", hiddenSize, vocabSize, () => head)] : []),
  ];
}

/**
 * Reorders each head's rows. Positions turn rows i and i + headDim / 2 together in Hugging Face's order, and rows 2i and
 * 2i + 1 in the order that llama.cpp keeps for the architecture "llama".
 */
function pairNeighbours(rows: Float32Array, width: number, headDim: number): Float32Array {
  const reordered = new Float32Array(rows.length);
  for (let row = 0; row < rows.length / width; row++) {
    const inHead = row % headDim;
    const from = row - inHead + (inHead >> 1) + (inHead & 1) * (headDim / 2);
    reordered.set(rows.subarray(from * width, (from + 1) * width), row * width);
  }
  return reordered;
}
