// The header of a safetensors file: which tensors lie where.
//
//   [ u64 n, little-endian ][ n bytes of JSON ][ data, without holes ]
//   JSON: { "name": { "dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12] }, ..., "__metadata__": {...} }

import { ChorusError } from "../protocol/errors.ts";
import { brief, isObject } from "./json-fields.ts";

/** Of the header's length, which comes first. */
export const PREFIX_BYTES = 8;
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

export interface TensorEntry {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  /** Byte range in the data. */
  readonly begin: number;
  readonly end: number;
}

export interface SafetensorsHeader {
  readonly entries: readonly TensorEntry[];
  /** Where the data begins in the file. */
  readonly dataBegin: number;
  readonly fileBytes: number;
}

/**
 * The header's end in the file, which its first 8 bytes tell.
 * @param file what errors call it
 * @throws ChorusError model_invalid
 */
export function headerEnd(bytes: Uint8Array, fileBytes: number | null, file: string): number {
  return PREFIX_BYTES + readHeaderLength(bytes, fileBytes ?? Infinity, file);
}

/**
 * Reads the header and checks all of it, so that every tensor listed can be read from a file of `fileBytes`; null:
 * as many as the header says.
 * @param bytes the file's beginning, up to headerEnd() at least
 * @throws ChorusError model_invalid, naming file and tensor.
 */
export function parseSafetensorsHeader(bytes: Uint8Array, fileBytes: number | null, file: string): SafetensorsHeader {
  const dataBegin = headerEnd(bytes, fileBytes, file);
  const header = readHeader(bytes.subarray(PREFIX_BYTES, dataBegin), file);
  const entries = Object.entries(header)
    .filter(([name]) => name !== "__metadata__")
    .map(([name, value]) => readEntry(name, value, file));
  const dataBytes =
    fileBytes === null ? entries.reduce((most, { end }) => Math.max(most, end), 0) : fileBytes - dataBegin;
  checkCoverage(entries, dataBytes, file);
  return { entries, dataBegin, fileBytes: dataBegin + dataBytes };
}

/** A header, with its length before it, for a file that holds the data of these tensors one after the other. */
export function encodeSafetensorsHeader(tensors: readonly TensorEntry[]): Uint8Array<ArrayBuffer> {
  let at = 0;
  const described = tensors.map(({ name, dtype, shape, begin, end }): [string, unknown] => {
    const dataOffsets = [at, (at += end - begin)];
    return [name, { dtype, shape, data_offsets: dataOffsets }];
  });
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(described)));
  // So that the data begins at a multiple of 8, as in the files that Hugging Face writes.
  const bytes = new Uint8Array(PREFIX_BYTES + Math.ceil(text.length / 8) * 8).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(bytes.length - PREFIX_BYTES), true);
  bytes.set(text, PREFIX_BYTES);
  return bytes;
}

function readHeaderLength(bytes: Uint8Array, fileBytes: number, file: string): number {
  if (bytes.length < PREFIX_BYTES)
    throw invalid(file, `it has ${bytes.length} bytes, and ${PREFIX_BYTES} come before the header`);
  refuseText(bytes.subarray(0, PREFIX_BYTES), file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, PREFIX_BYTES);
  const length = Number(view.getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES)
    throw invalid(file, `its header would be ${length} bytes long (at most ${MAX_HEADER_BYTES})`);
  if (PREFIX_BYTES + length > fileBytes) {
    throw invalid(file, `its header is ${length} bytes long, but the file ends after ${fileBytes} bytes`);
  }
  return length;
}

/** Names what lies there instead of weights, where that is known by its first bytes. */
function refuseText(prefix: Uint8Array, file: string): void {
  const text = new TextDecoder("latin1").decode(prefix).trimStart().toLowerCase();
  if (text.startsWith("version ")) {
    throw invalid(
      file,
      "it is a Git LFS pointer, which only names the weights. Fetch them with `git lfs pull`, or download the file itself",
    );
  }
  if (text.startsWith("<!") || text.startsWith("<html")) throw invalid(file, "it is a web page, not weights");
}

function readHeader(bytes: Uint8Array, file: string): Record<string, unknown> {
  let text: string;
  let header: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    header = JSON.parse(text);
  } catch (cause) {
    throw invalid(file, "its header is not JSON", { cause });
  }
  if (!isObject(header)) throw invalid(file, "its header is not a JSON object");
  const twice = findDuplicate(text);
  if (twice !== undefined) throw invalid(file, `it lists tensor ${brief(twice)} twice`);
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

function readEntry(name: string, value: unknown, file: string): TensorEntry {
  if (!isObject(value)) throw invalid(file, `tensor ${brief(name)} is described by ${brief(value)}, not by an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string") throw invalid(file, `tensor ${brief(name)} has dtype ${brief(dtype)}`);
  if (!isSizes(shape)) throw invalid(file, `tensor ${brief(name)} has shape ${brief(shape)}`);
  if (!isSizes(offsets)) throw invalid(file, `tensor ${brief(name)} has data_offsets ${brief(offsets)}`);
  const [begin, end, ...more] = offsets;
  if (begin === undefined || end === undefined || more.length > 0 || begin > end) {
    throw invalid(file, `tensor ${brief(name)} has data_offsets ${brief(offsets)}`);
  }
  const elementBytes = BYTES_PER_ELEMENT.get(dtype);
  const elements = shape.reduce((product, size) => product * size, 1);
  if (elementBytes !== undefined && elements * elementBytes !== end - begin) {
    throw invalid(
      file,
      `tensor ${brief(name)} is ${dtype} ${brief(shape)}, which takes ${elements * elementBytes} bytes, but has ${end - begin}`,
    );
  }
  return { name, dtype, shape, begin, end };
}

/** The format leaves no holes, so one pass in file order finds overlaps, holes and a file cut short. */
function checkCoverage(entries: readonly TensorEntry[], dataBytes: number, file: string): void {
  const inOrder = entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  for (const { name, begin, end } of inOrder) {
    if (end > dataBytes) {
      throw invalid(
        file,
        `tensor ${brief(name)} ends at byte ${end} of the data, but the file has ${dataBytes}: it may have been cut short`,
      );
    }
    if (begin < covered)
      throw invalid(file, `tensor ${brief(name)} begins at byte ${begin} of the data, inside the tensor before it`);
    if (begin > covered)
      throw invalid(file, `bytes ${covered} to ${begin} of the data, before tensor ${brief(name)}, belong to none`);
    covered = end;
  }
  if (covered < dataBytes) throw invalid(file, `${dataBytes - covered} bytes after the last tensor belong to none`);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}

function invalid(file: string, what: string, options?: ErrorOptions): ChorusError {
  return new ChorusError("model_invalid", `${file} is not a sound safetensors file: ${what}.`, file, options);
}
