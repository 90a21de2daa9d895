// Writes GGUF files for tests: any pairs, any tensors, also wrong ones.

/** Kinds of values, by their numbers in the format. */
const KIND = { u8: 0, i32: 5, u32: 4, f32: 6, bool: 7, string: 8, array: 9, u64: 10, i64: 11, f64: 12 } as const;
type Kind = keyof typeof KIND;

/** A pair's value with its kind; an array is of one kind. */
export type Typed =
  | readonly [kind: Exclude<Kind, "array">, value: unknown]
  | readonly ["array", of: Kind, values: readonly unknown[]];

interface WrittenTensor {
  /** Rows first. */
  readonly shape: readonly number[];
  /** 0: F32. */
  readonly type?: number;
  readonly data: Uint8Array;
}

export function ggufBytes(
  pairs: Readonly<Record<string, Typed>>,
  tensors: Readonly<Record<string, WrittenTensor>> = {},
  alignment = 32,
): Uint8Array<ArrayBuffer> {
  const sized = Object.entries(tensors).map(([name, tensor]) => ({ name, ...tensor, numBytes: tensor.data.length }));
  const parts = [ggufHead(pairs, sized, alignment)];
  for (const { data } of sized) parts.push(data, ggufPadding(data.length, alignment));
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

interface SizedTensor {
  readonly name: string;
  /** Rows first. */
  readonly shape: readonly number[];
  readonly type?: number;
  readonly numBytes: number;
}

/** Returns the zeros after so many bytes. */
export function ggufPadding(numBytes: number, alignment = 32): Uint8Array {
  return new Uint8Array((alignment - (numBytes % alignment)) % alignment);
}

/** Returns all that stands before the tensors' data. */
export function ggufHead(
  pairs: Readonly<Record<string, Typed>>,
  tensors: readonly SizedTensor[],
  alignment = 32,
): Uint8Array {
  const parts: Uint8Array[] = [];
  const encoder = new TextEncoder();
  const fixed = (bytes: number, write: (view: DataView) => void) => {
    const view = new DataView(new ArrayBuffer(bytes));
    write(view);
    parts.push(new Uint8Array(view.buffer));
  };
  const u32 = (value: number) => fixed(4, (view) => view.setUint32(0, value, true));
  const u64 = (value: number | bigint) => fixed(8, (view) => view.setBigUint64(0, BigInt(value), true));
  const text = (value: string) => {
    const bytes = encoder.encode(value);
    u64(bytes.length);
    parts.push(bytes);
  };
  const scalar = (kind: Kind, value: unknown) => {
    if (kind === "string") text(value as string);
    else if (kind === "u8" || kind === "bool") parts.push(Uint8Array.of(Number(value)));
    else if (kind === "u32") u32(value as number);
    else if (kind === "i32") fixed(4, (view) => view.setInt32(0, value as number, true));
    else if (kind === "f32") fixed(4, (view) => view.setFloat32(0, value as number, true));
    else if (kind === "f64") fixed(8, (view) => view.setFloat64(0, value as number, true));
    else if (kind === "u64") u64(value as bigint);
    else fixed(8, (view) => view.setBigInt64(0, BigInt(value as number), true));
  };
  const entries = Object.entries(pairs);
  parts.push(encoder.encode("GGUF"));
  u32(3);
  u64(tensors.length);
  u64(entries.length);
  for (const [key, typed] of entries) {
    text(key);
    u32(KIND[typed[0]]);
    if (typed[0] !== "array") {
      scalar(typed[0], typed[1]);
      continue;
    }
    const [, of, values] = typed;
    u32(KIND[of]);
    u64(values.length);
    for (const one of values) scalar(of, one);
  }
  let offset = 0;
  for (const { name, shape, type = 0, numBytes } of tensors) {
    text(name);
    u32(shape.length);
    for (const size of shape.toReversed()) u64(size);
    u32(type);
    u64(offset);
    offset += numBytes + ggufPadding(numBytes, alignment).length;
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = new Uint8Array(length + ggufPadding(length, alignment).length);
  let at = 0;
  for (const part of parts) {
    head.set(part, at);
    at += part.length;
  }
  return head;
}

const WIDTH = 32;

/** Returns the pairs of a model of one layer with these tokens, each of its own bytes; they may be changed. */
export function tinyPairs(tokens: readonly string[] = byteTokens()): Record<string, Typed> {
  return {
    "general.architecture": ["string", "llama"],
    "llama.block_count": ["u32", 1],
    "llama.embedding_length": ["u32", WIDTH],
    "llama.feed_forward_length": ["u32", WIDTH],
    "llama.context_length": ["u32", 64],
    "llama.attention.head_count": ["u32", 2],
    "llama.attention.layer_norm_rms_epsilon": ["f32", 1e-5],
    "tokenizer.ggml.model": ["string", "gpt2"],
    "tokenizer.ggml.pre": ["string", "gpt-2"],
    "tokenizer.ggml.tokens": ["array", "string", tokens],
    "tokenizer.ggml.merges": ["array", "string", []],
  };
}

/** Returns the 256 characters of GPT-2's byte alphabet. */
export function byteTokens(): string[] {
  const plain = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte < 173) || byte > 173;
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(plain(byte) ? byte : next++));
}

/** Returns the tensors of that model, with one embedding row per token. */
export function tinyTensors(rows = 256): Record<string, WrittenTensor> {
  const tensor = (...shape: number[]): WrittenTensor => {
    const values = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.sin(i));
    return { shape, data: new Uint8Array(values.buffer) };
  };
  const square = ["attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"];
  return {
    "token_embd.weight": tensor(rows, WIDTH),
    "output_norm.weight": tensor(WIDTH),
    "blk.0.attn_norm.weight": tensor(WIDTH),
    "blk.0.ffn_norm.weight": tensor(WIDTH),
    ...Object.fromEntries(square.map((name) => [`blk.0.${name}.weight`, tensor(WIDTH, WIDTH)])),
  };
}
