// Writes a checkpoint as GGUF, version 3, little-endian, under llama.cpp's names: what llama.cpp (and so wllama) loads.
//
//   "GGUF" | u32 version | u64 tensors | u64 metadata entries
//   metadata:  key, u32 kind, value        (a string is a u64 length and UTF-8; an array a u32 kind, a u64 length, items)
//   tensors:   name, u32 axes, u64 size of each (innermost first), u32 type, u64 offset into the data
//   padding to 32 bytes | data, each tensor padded to 32 bytes

import { float32ToFloat16 } from "../../src/files/half.ts";
import { FAMILIES } from "../../src/models/families.ts";
import { weightsOf } from "../../src/models/graph.ts";
import { transpose, type PeerCheckpoint, type Vocabulary } from "./checkpoint.ts";
import { GROUP, quantise, QUANTISATIONS, toBlocks, type Quantisation } from "./quantise.ts";

const ALIGNMENT = 32;
const KIND = { u32: 4, i32: 5, f32: 6, bool: 7, string: 8, array: 9 } as const;

/** How matrices are kept. Vectors and positions are always f32, as llama.cpp has them. */
export type GgufType = "f32" | "f16" | Quantisation;

/** A number is one of a typed array. */
type GgufValue = string | boolean | Uint32Array | Float32Array | Int32Array | readonly string[];

/** ggml's kinds of tokens. */
const NORMAL_TOKEN = 1;
const CONTROL_TOKEN = 3;

interface GgufTensor {
  readonly name: string;
  /** Innermost axis first: the reverse of a row-major shape. */
  readonly sizes: readonly number[];
  /** ggml's number of it. */
  readonly type: number;
  readonly numBytes: number;
  /** Created while writing, so that only one tensor is in memory. */
  readonly data: () => Uint8Array;
}

/** Returns the parts of a file, in order. */
export function* toGguf(checkpoint: PeerCheckpoint, type: GgufType): Generator<Uint8Array> {
  const tensors = listTensors(checkpoint, type);
  const entries = Object.entries({
    "general.architecture": checkpoint.model.family,
    "general.file_type": Uint32Array.of({ f32: 0, f16: 1, Q4_0: 2, Q8_0: 7 }[type]),
    ...describeModel(checkpoint),
    ...describeTokens(checkpoint),
  });
  const head: Uint8Array[] = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, value] of entries) head.push(...text(key), ...encodeValue(value));
  let offset = 0;
  for (const { name, sizes, type: ofTensor, numBytes } of tensors) {
    head.push(...text(name), u32(sizes.length), ...sizes.map(u64), u32(ofTensor), u64(offset));
    offset += numBytes + paddingAfter(numBytes);
  }
  const headBytes = Buffer.concat(head);
  yield headBytes;
  yield new Uint8Array(paddingAfter(headBytes.length));
  for (const { numBytes, data } of tensors) {
    yield data();
    yield new Uint8Array(paddingAfter(numBytes));
  }
}

function describeModel({ config, model }: PeerCheckpoint): Record<string, GgufValue> {
  const { numLayers, hiddenSize, numHeads, numKvHeads, headDim, vocabSize, maxPositions } = model.shape;
  const { operations } = model.graph;
  const norm = operations.flatMap((operation) => (operation.type === "norm" ? operation.norm : []))[0];
  const [inner = NaN] = operations.flatMap((operation) => {
    if (operation.type === "gate") return operation.gate.matrix.outputs;
    return operation.type === "linear" && operation.activation ? operation.linear.matrix.outputs : [];
  });
  const size = (value: number) => Uint32Array.of(value);
  const number = (value: number) => Float32Array.of(value);
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
function describeTokens({ model, vocabulary }: { model: PeerCheckpoint["model"]; vocabulary: Vocabulary }) {
  const { tokens, merges, controlTokenIds } = vocabulary;
  // The embedding may have more rows than the tokenizer has tokens; llama.cpp wants a name for each.
  const names = Array.from({ length: model.shape.vocabSize }, (_, id) => tokens[id] ?? `<unused${id}>`);
  const isControl = new Set(controlTokenIds);
  const endOfText = Uint32Array.of(model.eosTokenIds[0] ?? 0);
  return {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.pre": "gpt-2",
    "tokenizer.ggml.tokens": names,
    "tokenizer.ggml.token_type": Int32Array.from(names, (_, id) => (isControl.has(id) ? CONTROL_TOKEN : NORMAL_TOKEN)),
    "tokenizer.ggml.merges": merges,
    "tokenizer.ggml.bos_token_id": endOfText,
    "tokenizer.ggml.eos_token_id": endOfText,
    "tokenizer.ggml.add_bos_token": false,
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
        sizes: isTurned ? shape : shape.toReversed(),
        ...encodingOf(own, rows * columns, values),
      };
    });
  });
}

/** Returns a tensor's type, its size, and what encodes its values. */
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

function paddingAfter(numBytes: number): number {
  return (ALIGNMENT - (numBytes % ALIGNMENT)) % ALIGNMENT;
}

function encodeValue(value: GgufValue): Uint8Array[] {
  if (typeof value === "string") return [u32(KIND.string), ...text(value)];
  if (typeof value === "boolean") return [u32(KIND.bool), Uint8Array.of(Number(value))];
  if (value instanceof Uint32Array) return [u32(KIND.u32), bytesOf(value)];
  if (value instanceof Float32Array) return [u32(KIND.f32), bytesOf(value)];
  const isNumbers = value instanceof Int32Array;
  const items = isNumbers ? [bytesOf(value)] : value.flatMap(text);
  return [u32(KIND.array), u32(isNumbers ? KIND.i32 : KIND.string), u64(value.length), ...items];
}

function u32(value: number): Uint8Array {
  return bytesOf(Uint32Array.of(value));
}

function u64(value: number): Uint8Array {
  return bytesOf(BigUint64Array.of(BigInt(value)));
}

function text(value: string): Uint8Array[] {
  const bytes = Buffer.from(value);
  return [u64(bytes.length), bytes];
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}
