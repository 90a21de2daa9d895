// The common part of all architectures' GGUF files, under llama.cpp's names: the tensors' format, and the tokenizer.

import { float32ToFloat16 } from "../../src/files/half.ts";
import type { Vocabulary } from "./checkpoint.ts";
import type { GgufTensor, GgufType, GgufValue } from "./gguf.ts";

/** ggml's kinds of tokens. */
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;

export const u32 = (value: number): GgufValue => ({ type: "u32", value });
export const f32 = (value: number): GgufValue => ({ type: "f32", value });
const string = (value: string): GgufValue => ({ type: "string", value });

/**
 * @param sizes innermost axis first
 * @param type how it is kept; llama.cpp wants vectors in f32
 */
export function ggufTensor(
  name: string,
  sizes: readonly number[],
  values: () => Float32Array,
  type: GgufType = "f32",
): GgufTensor {
  const numBytes = sizes.reduce((product, size) => product * size, type === "f16" ? 2 : 4);
  return { name, sizes, type, numBytes, data: () => bytesOf(type === "f16" ? float32ToFloat16(values()) : values()) };
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns the architecture, the format of most weights, and a byte-level BPE with GPT-2's pattern. */
export function describeFile(
  architecture: string,
  type: GgufType,
  { tokens, merges, controlTokenIds }: Vocabulary,
  { vocabSize, bosTokenId, eosTokenId }: { vocabSize: number; bosTokenId: number; eosTokenId: number },
): Record<string, GgufValue> {
  // The embedding may have more rows than the tokenizer has tokens; llama.cpp wants a name for each.
  const names = Array.from({ length: vocabSize }, (_, id) => tokens[id] ?? `<unused${id}>`);
  const isControl = new Set(controlTokenIds);
  return {
    "general.architecture": string(architecture),
    "general.file_type": u32(type === "f16" ? 1 : 0),
    "tokenizer.ggml.model": string("gpt2"),
    "tokenizer.ggml.pre": string("gpt-2"),
    "tokenizer.ggml.tokens": { type: "strings", value: names },
    "tokenizer.ggml.token_type": {
      type: "i32s",
      value: names.map((_, id) => (isControl.has(id) ? CONTROL_TOKEN : NORMAL_TOKEN)),
    },
    "tokenizer.ggml.merges": { type: "strings", value: merges },
    "tokenizer.ggml.bos_token_id": u32(bosTokenId),
    "tokenizer.ggml.eos_token_id": u32(eosTokenId),
    "tokenizer.ggml.add_bos_token": { type: "bool", value: false },
  };
}
