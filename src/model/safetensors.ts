// The safetensors format: named tensors in one file.
//
//   [ u64 n, little-endian ][ n bytes of JSON ][ data, without holes ]
//   JSON: { "name": { "dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12] }, ..., "__metadata__": {...} }

import { ChorusError } from "../protocol/errors.ts";
import { bfloat16ToFloat32, float16ToFloat32 } from "./half.ts";

const PREFIX_BYTES = 8;
/** The limit of the format's reference implementation. */
const MAX_HEADER_BYTES = 100_000_000;

/** Bytes an element takes; a tensor of another type may lie in the file, unread. */
const BYTES_PER_ELEMENT: ReadonlyMap<string, number> = new Map([
  ["F64", 8],
  ["F32", 4],
  ["F16", 2],
  ["BF16", 2],
  ["F8_E4M3", 1],
  ["F8_E5M2", 1],
  ["I64", 8],
  ["I32", 4],
  ["I16", 2],
  ["I8", 1],
  ["U64", 8],
  ["U32", 4],
  ["U16", 2],
  ["U8", 1],
  ["BOOL", 1],
]);

interface TensorEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Byte range in the data. */
  readonly begin: number;
  readonly end: number;
}

/**
 * Reads the header and checks all of it, so that every tensor listed can be read.
 * @throws ChorusError model_invalid, naming the tensor.
 */
export function parseSafetensors(file: ArrayBuffer | Uint8Array): Checkpoint {
  const bytes = file instanceof Uint8Array ? file : new Uint8Array(file);
  const headerBytes = readHeaderLength(bytes);
  const header = readHeader(bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + headerBytes));
  const entries = Object.entries(header)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, value]) => readEntry(name, value));
  const data = bytes.subarray(PREFIX_BYTES + headerBytes);
  checkCoverage(entries, data.length);
  return new Checkpoint(entries, data);
}

/** The tensors of a file. */
export class Checkpoint {
  readonly #entries: ReadonlyMap<string, TensorEntry>;
  readonly #data: Uint8Array;

  constructor(entries: readonly TensorEntry[], data: Uint8Array) {
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#data = data;
  }

  names(): string[] {
    return [...this.#entries.keys()];
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  shape(name: string): readonly number[] {
    return this.#entry(name).shape;
  }

  /**
   * A tensor's values, row-major. F16 and BF16 are converted, exactly. F32 may be a view of the file: don't write to it.
   * @throws ChorusError model_unsupported for every other type.
   */
  readF32(name: string): Float32Array {
    const { dtype, begin, end } = this.#entry(name);
    const bytes = this.#data.subarray(begin, end);
    switch (dtype) {
      case "F32":
        return new Float32Array(...aligned(bytes, 4));
      case "F16":
        return float16ToFloat32(new Uint16Array(...aligned(bytes, 2)));
      case "BF16":
        return bfloat16ToFloat32(new Uint16Array(...aligned(bytes, 2)));
      default:
        throw new ChorusError(
          "model_unsupported",
          `Tensor "${name}" is stored as ${dtype}; weights must be F32, F16 or BF16.`,
        );
    }
  }

  #entry(name: string): TensorEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw invalid(`it has no tensor "${name}"`);
    return entry;
  }
}

/** Buffer, offset and length of a typed array over these bytes; copied where they begin between two elements. */
function aligned(bytes: Uint8Array, bytesPerElement: number): [ArrayBufferLike, number, number] {
  const { buffer, byteOffset, length } = bytes.byteOffset % bytesPerElement === 0 ? bytes : bytes.slice();
  return [buffer, byteOffset, length / bytesPerElement];
}

function invalid(what: string, options?: ErrorOptions): ChorusError {
  return new ChorusError("model_invalid", `Not a sound safetensors file: ${what}.`, null, options);
}

function readHeaderLength(bytes: Uint8Array): number {
  if (bytes.length < PREFIX_BYTES)
    throw invalid(`it has ${bytes.length} bytes, and ${PREFIX_BYTES} come before the header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, PREFIX_BYTES);
  const length = Number(view.getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES)
    throw invalid(`its header would be ${length} bytes long (at most ${MAX_HEADER_BYTES})`);
  if (PREFIX_BYTES + length > bytes.length) {
    throw invalid(`its header is ${length} bytes long, but the file ends after ${bytes.length} bytes`);
  }
  return length;
}

function readHeader(bytes: Uint8Array): Record<string, unknown> {
  let text: string;
  let header: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    header = JSON.parse(text);
  } catch (cause) {
    throw invalid("its header is not JSON", { cause });
  }
  if (!isObject(header)) throw invalid("its header is not a JSON object");
  const twice = findDuplicate(text);
  if (twice !== undefined) throw invalid(`it lists tensor "${twice}" twice`);
  return header;
}

/** JSON.parse keeps the last of two equal keys and says nothing; here every key of an object value is a tensor's. */
function findDuplicate(header: string): string | undefined {
  const seen = new Set<string>();
  for (const [, key, isTensor] of header.matchAll(/("(?:[^"\\]|\\.)*")(\s*:\s*\{)?/g)) {
    if (key === undefined || isTensor === undefined) continue;
    const name = JSON.parse(key) as string;
    if (seen.has(name)) return name;
    seen.add(name);
  }
  return undefined;
}

function readEntry(name: string, value: unknown): TensorEntry {
  if (!isObject(value)) throw invalid(`tensor "${name}" is described by ${JSON.stringify(value)}, not by an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string") throw invalid(`tensor "${name}" has dtype ${JSON.stringify(dtype)}`);
  if (!isSizes(shape)) throw invalid(`tensor "${name}" has shape ${JSON.stringify(shape)}`);
  if (!isSizes(offsets)) throw invalid(`tensor "${name}" has data_offsets ${JSON.stringify(offsets)}`);
  const [begin, end, ...more] = offsets;
  if (begin === undefined || end === undefined || more.length > 0 || begin > end) {
    throw invalid(`tensor "${name}" has data_offsets ${JSON.stringify(offsets)}`);
  }
  const elementBytes = BYTES_PER_ELEMENT.get(dtype);
  const elements = shape.reduce((product, size) => product * size, 1);
  if (elementBytes !== undefined && elements * elementBytes !== end - begin) {
    throw invalid(
      `tensor "${name}" is ${dtype} [${shape.join(", ")}], which takes ${elements * elementBytes} bytes, but has ${end - begin}`,
    );
  }
  return { name, dtype, shape, begin, end };
}

/** The format leaves no holes, so one pass in file order finds overlaps, holes and a file cut short. */
function checkCoverage(entries: readonly TensorEntry[], dataBytes: number): void {
  const inOrder = entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  for (const { name, begin, end } of inOrder) {
    if (end > dataBytes) {
      throw invalid(
        `tensor "${name}" ends at byte ${end} of the data, but the file has ${dataBytes}: it may have been cut short`,
      );
    }
    if (begin < covered)
      throw invalid(`tensor "${name}" begins at byte ${begin} of the data, inside the tensor before it`);
    if (begin > covered)
      throw invalid(`bytes ${covered} to ${begin} of the data, before tensor "${name}", belong to none`);
    covered = end;
  }
  if (covered < dataBytes) throw invalid(`${dataBytes - covered} bytes after the last tensor belong to none`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
