// Writes a checkpoint as GGUF under llama.cpp's names: what llama.cpp (and so wllama) loads.

import { float32ToFloat16 } from "../../src/files/half.ts";
import { FAMILIES } from "../../src/models/families.ts";
import { weightsOf } from "../../src/models/graph.ts";
import { ggufHead, ggufPadding, type Typed } from "../../tests/fakes/gguf-bytes.ts";
import { transpose, type PeerCheckpoint } from "./checkpoint.ts";
import { GROUP, quantise, QUANTISATIONS, toBlocks, type Quantisation } from "./quantise.ts";

/** How matrices are kept. Vectors and positions are always f32, as llama.cpp has them. */
export type GgufType = "f32" | "f16" | Quantisation;

/** ggml's kinds of tokens. */
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;

interface GgufTensor {
  readonly name: string;
  /** Rows first. */
  readonly shape: readonly number[];
  /** ggml's number of it. */
  readonly type: number;
  readonly numBytes: number;
  /** Created while writing, so that only one tensor is in memory. */
  readonly data: () => Uint8Array;
}

export function* toGguf(checkpoint: PeerCheckpoint, type: GgufType): Generator<Uint8Array> {
  const tensors = listTensors(checkpoint, type);
  const pairs: Record<string, Typed> = {
    "general.architecture": ["string", checkpoint.model.family],
    "general.file_type": ["u32", { f32: 0, f16: 1, Q4_0: 2, Q8_0: 7 }[type]],
    ...describeModel(checkpoint),
    ...describeTokens(checkpoint),
  };
  yield ggufHead(pairs, tensors);
  for (const { numBytes, data } of tensors) {
    yield data();
    yield ggufPadding(numBytes);
  }
}

function describeModel({ config, model }: PeerCheckpoint): Record<string, Typed> {
  const { numLayers, hiddenSize, numHeads, numKvHeads, headDim, vocabSize, maxPositions } = model.shape;
  const { operations } = model.graph;
  const norm = operations.flatMap((operation) => (operation.type === "norm" ? operation.norm : []))[0];
  const [inner = NaN] = operations.flatMap((operation) => {
    if (operation.type === "gate") return operation.gate.matrix.outputs;
    return operation.type === "linear" && operation.activation ? operation.linear.matrix.outputs : [];
  });
  const size = (value: number): Typed => ["u32", value];
  const number = (value: number): Typed => ["f32", value];
  const fields = {
    context_length: size(maxPositions),
    embedding_length: size(hiddenSize),
    feed_forward_length: size(inner),
    block_count: size(numLayers),
    "attention.head_count": size(numHeads),
    [`attention.layer_norm_${norm?.kind === "rms" ? "rms_" : ""}epsilon`]: number(norm?.epsilon ?? NaN),
    ...(operations.some((operation) => operation.type === "rotary") && {
      vocab_size: size(vocabSize),
      "attention.head_count_kv": size(numKvHeads),
      "attention.key_length": size(headDim),
      "attention.value_length": size(headDim),
      "rope.dimension_count": size(headDim),
      "rope.freq_base": number(Number(config["rope_theta"] ?? 10_000)),
    }),
  };
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${model.family}.${name}`, value]));
}

/** Describes a byte-level BPE with GPT-2's pattern. */
function describeTokens({ model, vocabulary }: PeerCheckpoint): Record<string, Typed> {
  const { tokens, merges, controlTokenIds } = vocabulary;
  // The embedding may have more rows than the tokenizer has tokens; llama.cpp wants a name for each.
  const names = Array.from({ length: model.shape.vocabSize }, (_, id) => tokens[id] ?? `<unused${id}>`);
  const isControl = new Set(controlTokenIds);
  const endOfText: Typed = ["u32", model.eosTokenIds[0] ?? 0];
  return {
    "tokenizer.ggml.model": ["string", "gpt2"],
    "tokenizer.ggml.pre": ["string", "gpt-2"],
    "tokenizer.ggml.tokens": ["array", "string", names],
    "tokenizer.ggml.token_type": [
      "array",
      "i32",
      names.map((_, id) => (isControl.has(id) ? CONTROL_TOKEN : NORMAL_TOKEN)),
    ],
    "tokenizer.ggml.merges": ["array", "string", merges],
    "tokenizer.ggml.bos_token_id": endOfText,
    "tokenizer.ggml.eos_token_id": endOfText,
    "tokenizer.ggml.add_bos_token": ["bool", false],
  };
}

function listTensors({ model, read }: PeerCheckpoint, type: GgufType): GgufTensor[] {
  const form = FAMILIES.find(({ modelTypes }) => modelTypes.includes(model.family))?.gguf?.weights(model.family);
  if (!form) throw new Error(`${model.family} has no names in GGUF files.`);
  return weightsOf(model.graph).flatMap((weight) => {
    // Conv1D keeps [in, out]; llama.cpp wants a row for each output.
    const isTurned = "layout" in weight && weight.layout === "in-out";
    let end = 0;
    return weight.tensors.map(({ name, shape }): GgufTensor => {
      const [rows = 1, columns = 1] = shape;
      const begin = end;
      end += rows * columns;
      const last = end;
      const own = "layout" in weight ? type : "f32";
      const values = () => {
        const part = read(weight).subarray(begin, last);
        if (isTurned) return transpose(part, rows, columns);
        return form.isInterleaved(name) ? pairNeighbours(part, columns, model.shape.headDim) : part;
      };
      return {
        name: form.nameOf(name),
        shape: isTurned ? shape.toReversed() : shape,
        ...encodingOf(own, rows * columns, values),
      };
    });
  });
}

function encodingOf(type: GgufType, length: number, values: () => Float32Array) {
  if (type === "f32") return { type: 0, numBytes: 4 * length, data: () => bytesOf(values()) };
  if (type === "f16") return { type: 1, numBytes: 2 * length, data: () => bytesOf(float32ToFloat16(values())) };
  const { bits, ggmlType } = QUANTISATIONS[type];
  const numBytes = (length / GROUP) * 2 + (length * bits) / 8;
  return { type: ggmlType, numBytes, data: () => toBlocks(quantise(values(), type), type) };
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

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
