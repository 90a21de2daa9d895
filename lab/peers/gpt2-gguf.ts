// A GPT-2 checkpoint under llama.cpp's names.

import type { Vocabulary } from "./checkpoint.ts";
import { describeFile, f32, ggufTensor, u32 } from "./gguf-model.ts";
import { encodeGguf, type GgufTensor, type GgufType, type GgufValue } from "./gguf.ts";
import type { Gpt2Weights, WeightAndBias } from "./gpt2-weights.ts";
import { transpose } from "./transpose.ts";

/** The parts of a GGUF file. `type` is how matrices are kept; vectors and positions are always f32, as llama.cpp has them. */
export function gpt2ToGguf(weights: Gpt2Weights, vocabulary: Vocabulary, type: GgufType): Generator<Uint8Array> {
  return encodeGguf(describe(weights, vocabulary, type), listTensors(weights, type));
}

function describe({ config }: Gpt2Weights, vocabulary: Vocabulary, type: GgufType): Record<string, GgufValue> {
  const { vocabSize, bosTokenId, eosTokenIds } = config;
  const eosTokenId = eosTokenIds[0] ?? 0;
  return {
    ...describeFile("gpt2", type, vocabulary, { vocabSize, bosTokenId: bosTokenId ?? eosTokenId, eosTokenId }),
    "gpt2.context_length": u32(config.nPositions),
    "gpt2.embedding_length": u32(config.nEmbd),
    "gpt2.feed_forward_length": u32(config.nInner),
    "gpt2.block_count": u32(config.nLayer),
    "gpt2.attention.head_count": u32(config.nHead),
    "gpt2.attention.layer_norm_epsilon": f32(config.layerNormEpsilon),
  };
}

function listTensors(weights: Gpt2Weights, type: GgufType): GgufTensor[] {
  const { vocabSize, nPositions, nEmbd, nInner } = weights.config;
  const norm = (name: string, { weight, bias }: WeightAndBias) => [
    ggufTensor(`${name}.weight`, [nEmbd], () => weight),
    ggufTensor(`${name}.bias`, [nEmbd], () => bias),
  ];
  // Conv1D keeps [in, out]; llama.cpp wants a row for each output.
  const linear = (name: string, inputs: number, outputs: number, { weight, bias }: WeightAndBias) => [
    ggufTensor(`${name}.weight`, [inputs, outputs], () => transpose(weight, inputs, outputs), type),
    ggufTensor(`${name}.bias`, [outputs], () => bias),
  ];
  const layer = ({ ln1, qkv, proj, ln2, fc, fcProj }: Gpt2Weights["layers"][number], index: number) => {
    const name = `blk.${index}`;
    return [
      ...norm(`${name}.attn_norm`, ln1),
      ...linear(`${name}.attn_qkv`, nEmbd, 3 * nEmbd, qkv),
      ...linear(`${name}.attn_output`, nEmbd, nEmbd, proj),
      ...norm(`${name}.ffn_norm`, ln2),
      ...linear(`${name}.ffn_up`, nEmbd, nInner, fc),
      ...linear(`${name}.ffn_down`, nInner, nEmbd, fcProj),
    ];
  };
  return [
    ggufTensor("token_embd.weight", [nEmbd, vocabSize], () => weights.wte, type),
    ggufTensor("position_embd.weight", [nEmbd, nPositions], () => weights.wpe),
    ...weights.layers.flatMap(layer),
    ...norm("output_norm", weights.lnF),
  ];
}
