// The GGUF format, version 3, little-endian: what llama.cpp (and so wllama) loads.
//
//   "GGUF" | u32 version | u64 tensors | u64 metadata entries
//   metadata:  key, u32 type, value        (a string is a u64 length and UTF-8; an array a u32 type, a u64 length, items)
//   tensors:   name, u32 axes, u64 size of each (innermost first), u32 type, u64 offset into the data
//   padding to 32 bytes | data, each tensor padded to 32 bytes

const ALIGNMENT = 32;

export type GgufType = "f32" | "f16";

/** ggml's numbers. */
const GGUF_TYPES: Readonly<Record<GgufType, number>> = { f32: 0, f16: 1 };

export type GgufValue =
  | { readonly type: "u32" | "i32" | "f32"; readonly value: number }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "string"; readonly value: string }
  | { readonly type: "strings"; readonly value: readonly string[] }
  | { readonly type: "i32s"; readonly value: readonly number[] };

export interface GgufTensor {
  readonly name: string;
  /** Innermost axis first: the reverse of a row-major shape. */
  readonly sizes: readonly number[];
  readonly type: GgufType;
  readonly numBytes: number;
  /** Created while writing, so that only one tensor is in memory. */
  readonly data: () => Uint8Array;
}

/** The parts of a file, in order. */
export function* encodeGguf(
  metadata: Readonly<Record<string, GgufValue>>,
  tensors: readonly GgufTensor[],
): Generator<Uint8Array> {
  const entries = Object.entries(metadata);
  const head = [Buffer.from("GGUF"), u32(3), u64(tensors.length), u64(entries.length)];
  for (const [key, value] of entries) head.push(text(key), encodeValue(value));
  let offset = 0;
  for (const { name, sizes, type, numBytes } of tensors) {
    head.push(text(name), u32(sizes.length), ...sizes.map(u64), u32(GGUF_TYPES[type]), u64(offset));
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

function paddingAfter(numBytes: number): number {
  return (ALIGNMENT - (numBytes % ALIGNMENT)) % ALIGNMENT;
}

function encodeValue({ type, value }: GgufValue): Buffer {
  switch (type) {
    case "u32":
      return Buffer.concat([u32(4), u32(value)]);
    case "i32":
      return Buffer.concat([u32(5), i32(value)]);
    case "f32":
      return Buffer.concat([u32(6), f32(value)]);
    case "bool":
      return Buffer.concat([u32(7), Buffer.of(Number(value))]);
    case "string":
      return Buffer.concat([u32(8), text(value)]);
    case "strings":
      return Buffer.concat([u32(9), u32(8), u64(value.length), ...value.map(text)]);
    case "i32s":
      return Buffer.concat([u32(9), u32(5), u64(value.length), ...value.map(i32)]);
  }
}

function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function i32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32LE(value);
  return bytes;
}

function f32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}

function u64(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([u64(bytes.length), bytes]);
}
