// The header of a safetensors file lists the tensors and where they are:
//
//   [ u64 n, little-endian ][ n bytes of JSON ][ data, without holes ]
//   JSON: { "name": { "dtype": "F16", "shape": [2, 3], "data_offsets": [0, 12] }, ..., "__metadata__": {...} }

import { brief, damagedFile as invalid } from "./json-fields.ts";
import { isObject } from "../protocol/json-object.ts";

/** Size of the header's length, which is the file's first field. */
export const PREFIX_BYTES = 8;
/** The reference implementation's limit. */
const MAX_HEADER_BYTES = 100_000_000;

/** Bytes per element. A file may hold tensors of other types; they are never read. */
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
  /** Byte range [begin, end) in the data. */
  readonly begin: number;
  readonly end: number;
}

/** Returns the header's end, which the file's first 8 bytes give. @throws ChorusError model_invalid */
export function headerEnd(bytes: Uint8Array, fileBytes: number | null, file: string): number {
  return PREFIX_BYTES + readHeaderLength(bytes, fileBytes ?? Infinity, file);
}

/**
 * Checks that every tensor listed lies inside the file.
 * @param bytes the file's beginning, at least up to headerEnd()
 * @param fileBytes null takes the size that the header implies
 * @throws ChorusError model_invalid, with file and tensor
 */
export function parseSafetensorsHeader(bytes: Uint8Array, fileBytes: number | null, file: string) {
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

/** Returns the length field and header of a file with these tensors one after the other. */
export function encodeSafetensorsHeader(tensors: readonly TensorEntry[]): Uint8Array<ArrayBuffer> {
  let at = 0;
  const described = tensors.map(({ name, dtype, shape, begin, end }): [string, unknown] => {
    const dataOffsets = [at, (at += end - begin)];
    return [name, { dtype, shape, data_offsets: dataOffsets }];
  });
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(described)));
  // Hugging Face's files align the data to 8 bytes.
  const bytes = new Uint8Array(PREFIX_BYTES + Math.ceil(text.length / 8) * 8).fill(0x20);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(bytes.length - PREFIX_BYTES), true);
  bytes.set(text, PREFIX_BYTES);
  return bytes;
}

function readHeaderLength(bytes: Uint8Array, fileBytes: number, file: string): number {
  if (bytes.length < PREFIX_BYTES)
    throw invalid(file, `it has only ${bytes.length} bytes; the header's length alone takes ${PREFIX_BYTES}`);
  refuseText(bytes.subarray(0, PREFIX_BYTES), file);
  const view = new DataView(bytes.buffer, bytes.byteOffset, PREFIX_BYTES);
  const length = Number(view.getBigUint64(0, true));
  if (length > MAX_HEADER_BYTES)
    throw invalid(file, `its header would be ${length} bytes long (at most ${MAX_HEADER_BYTES})`);
  if (PREFIX_BYTES + length > fileBytes)
    throw invalid(file, `its header is ${length} bytes long, but the file ends after ${fileBytes} bytes`);
  return length;
}

/** Throws if the first bytes show text instead of weights, naming its kind. */
export function refuseText(prefix: Uint8Array, file: string): void {
  const text = new TextDecoder("latin1").decode(prefix).trimStart().toLowerCase();
  const pointer = "it is a Git LFS pointer, which only names the weights";
  if (text.startsWith("version "))
    throw invalid(file, `${pointer}. Fetch them with \`git lfs pull\`, or download the file itself`);
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

/** JSON.parse silently keeps the last of two equal keys. Here every key with an object as its value is a tensor's name. */
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
  const wrong = (what: string) => invalid(file, `tensor ${brief(name)} ${what}`);
  if (!isObject(value)) throw wrong(`is described by ${brief(value)}, not by an object`);
  const { dtype, shape, data_offsets: offsets } = value;
  if (typeof dtype !== "string") throw wrong(`has dtype ${brief(dtype)}`);
  if (!isSizes(shape)) throw wrong(`has shape ${brief(shape)}`);
  const [begin, end, ...more] = isSizes(offsets) ? offsets : [];
  if (begin === undefined || end === undefined || more.length > 0 || begin > end)
    throw wrong(`has data_offsets ${brief(offsets)}`);
  const elementBytes = BYTES_PER_ELEMENT.get(dtype);
  const bytes = shape.reduce((product, size) => product * size, elementBytes ?? 0);
  if (elementBytes !== undefined && bytes !== end - begin)
    throw wrong(`is ${dtype} ${brief(shape)}, which takes ${bytes} bytes, but has ${end - begin}`);
  return { name, dtype, shape, begin, end };
}

/** The format allows no holes, so one pass in file order finds overlaps, holes and truncated files. */
function checkCoverage(entries: readonly TensorEntry[], dataBytes: number, file: string): void {
  const inOrder = entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end);
  let covered = 0;
  for (const { name, begin, end } of inOrder) {
    const tensor = `tensor ${brief(name)}`;
    const where = `${tensor} ends at byte ${end} of the data, but the file has ${dataBytes}`;
    if (end > dataBytes) throw invalid(file, `${where}: it may have been cut short`);
    if (begin < covered)
      throw invalid(file, `${tensor} begins at byte ${begin} of the data, inside the tensor before it`);
    if (begin > covered)
      throw invalid(file, `bytes ${covered} to ${begin} of the data, before ${tensor}, belong to none`);
    covered = end;
  }
  if (covered < dataBytes) throw invalid(file, `${dataBytes - covered} bytes after the last tensor belong to none`);
}

function isSizes(value: unknown): value is number[] {
  return Array.isArray(value) && value.every((size) => Number.isSafeInteger(size) && size >= 0);
}
