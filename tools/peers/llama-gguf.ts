// A Llama checkpoint under llama.cpp's names.

import type { Vocabulary } from "./checkpoint.ts";
import { describeFile, f32, ggufTensor, u32 } from "./gguf-model.ts";
import { encodeGguf, type GgufTensor, type GgufType, type GgufValue } from "./gguf.ts";
import type { LlamaWeights } from "./llama-weights.ts";

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
  return {
    ...describeFile("llama", type, vocabulary, { vocabSize, bosTokenId: eosTokenId, eosTokenId }),
    "llama.vocab_size": u32(vocabSize),
    "llama.context_length": u32(maxPositions),
    "llama.embedding_length": u32(hiddenSize),
    "llama.feed_forward_length": u32(config.intermediateSize),
    "llama.block_count": u32(numLayers),
    "llama.attention.head_count": u32(numHeads),
    "llama.attention.head_count_kv": u32(numKvHeads),
    "llama.attention.key_length": u32(headDim),
    "llama.attention.value_length": u32(headDim),
    "llama.attention.layer_norm_rms_epsilon": f32(config.rmsNormEps),
    "llama.rope.dimension_count": u32(headDim),
    "llama.rope.freq_base": f32(ropeTheta),
  };
}

function listTensors({ config, embedding, layers, norm, head }: LlamaWeights, type: GgufType): GgufTensor[] {
  const { hiddenSize, numHeads, numKvHeads, headDim, vocabSize } = config.shape;
  const [queryWidth, keyWidth] = [numHeads * headDim, numKvHeads * headDim];
  const vector = (name: string, values: Float32Array) => ggufTensor(`${name}.weight`, [values.length], () => values);
  const matrix = (name: string, inputs: number, outputs: number, values: () => Float32Array) =>
    ggufTensor(`${name}.weight`, [inputs, outputs], values, type);
  const layer = ({ attnNorm, qkv, o, mlpNorm, gate, up, down }: LlamaWeights["layers"][number], index: number) => {
    const name = (part: string) => `blk.${index}.${part}`;
    const rows = (begin: number, end: number) => qkv.subarray(begin * hiddenSize, end * hiddenSize);
    const queries = rows(0, queryWidth);
    const keys = rows(queryWidth, queryWidth + keyWidth);
    const values = rows(queryWidth + keyWidth, queryWidth + 2 * keyWidth);
    return [
      vector(name("attn_norm"), attnNorm),
      matrix(name("attn_q"), hiddenSize, queryWidth, () => pairNeighbours(queries, hiddenSize, headDim)),
      matrix(name("attn_k"), hiddenSize, keyWidth, () => pairNeighbours(keys, hiddenSize, headDim)),
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
 * 2i + 1 in the order that llama.cpp keeps for this architecture.
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
