// A GPT-2 checkpoint under llama.cpp's names.

import { float32ToFloat16 } from "../../src/files/half.ts";
import type { PeerWeights, Vocabulary, WeightAndBias } from "./checkpoint.ts";
import { encodeGguf, type GgufTensor, type GgufType, type GgufValue } from "./gguf.ts";
import { transpose } from "./transpose.ts";

/** ggml's kinds of tokens. */
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;

/** The parts of a GGUF file. `type` is how matrices are kept; vectors and positions are always f32, as llama.cpp has them. */
export function gpt2ToGguf(weights: PeerWeights, vocabulary: Vocabulary, type: GgufType): Generator<Uint8Array> {
  return encodeGguf(describe(weights, vocabulary, type), listTensors(weights, type));
}

function describe(
  { config }: PeerWeights,
  { tokens, merges, controlTokenIds }: Vocabulary,
  type: GgufType,
): Record<string, GgufValue> {
  const u32 = (value: number): GgufValue => ({ type: "u32", value });
  const string = (value: string): GgufValue => ({ type: "string", value });
  const eosTokenId = config.eosTokenIds[0] ?? 0;
  // The embedding may have more rows than the tokenizer has tokens; llama.cpp wants a name for each.
  const names = Array.from({ length: config.vocabSize }, (_, id) => tokens[id] ?? `<unused${id}>`);
  const isControl = new Set(controlTokenIds);
  return {
    "general.architecture": string("gpt2"),
    "general.file_type": u32(type === "f16" ? 1 : 0),
    "gpt2.context_length": u32(config.nPositions),
    "gpt2.embedding_length": u32(config.nEmbd),
    "gpt2.feed_forward_length": u32(config.nInner),
    "gpt2.block_count": u32(config.nLayer),
    "gpt2.attention.head_count": u32(config.nHead),
    "gpt2.attention.layer_norm_epsilon": { type: "f32", value: config.layerNormEpsilon },
    "tokenizer.ggml.model": string("gpt2"),
    "tokenizer.ggml.pre": string("gpt-2"),
    "tokenizer.ggml.tokens": { type: "strings", value: names },
    "tokenizer.ggml.token_type": {
      type: "i32s",
      value: names.map((_, id) => (isControl.has(id) ? CONTROL_TOKEN : NORMAL_TOKEN)),
    },
    "tokenizer.ggml.merges": { type: "strings", value: merges },
    "tokenizer.ggml.bos_token_id": u32(config.bosTokenId ?? eosTokenId),
    "tokenizer.ggml.eos_token_id": u32(eosTokenId),
    "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
  };
}

function listTensors(weights: PeerWeights, type: GgufType): GgufTensor[] {
  const { vocabSize, nPositions, nEmbd, nInner } = weights.config;
  const tensor = (
    name: string,
    sizes: readonly number[],
    values: () => Float32Array,
    kept: GgufType = "f32",
  ): GgufTensor => ({
    name,
    sizes,
    type: kept,
    numBytes: sizes.reduce((product, size) => product * size, kept === "f16" ? 2 : 4),
    data: () => bytesOf(kept === "f16" ? float32ToFloat16(values()) : values()),
  });
  const norm = (name: string, { weight, bias }: WeightAndBias) => [
    tensor(`${name}.weight`, [nEmbd], () => weight),
    tensor(`${name}.bias`, [nEmbd], () => bias),
  ];
  // Conv1D keeps [in, out]; llama.cpp wants a row for each output.
  const linear = (name: string, inputs: number, outputs: number, { weight, bias }: WeightAndBias) => [
    tensor(`${name}.weight`, [inputs, outputs], () => transpose(weight, inputs, outputs), type),
    tensor(`${name}.bias`, [outputs], () => bias),
  ];
  const layer = ({ ln1, qkv, proj, ln2, fc, fcProj }: PeerWeights["layers"][number], index: number) => {
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
    tensor("token_embd.weight", [nEmbd, vocabSize], () => weights.wte, type),
    tensor("position_embd.weight", [nEmbd, nPositions], () => weights.wpe),
    ...weights.layers.flatMap(layer),
    ...norm("output_norm", weights.lnF),
  ];
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
