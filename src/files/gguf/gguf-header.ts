// The header of a GGUF file, as llama.cpp defines it: pairs of keys and values, then the tensors and where they are.
//
//   [ "GGUF" ][ u32 version ][ u64 tensors ][ u64 pairs ] pairs... tensors... [ padding to general.alignment ][ data ]
//   pair:    [ key: string ][ u32 kind ][ value ]          string: [ u64 bytes ][ UTF-8 ]
//   tensor:  [ name: string ][ u32 dimensions ][ u64 size, innermost first ]... [ u32 type ][ u64 offset in the data ]
//
// A vocabulary makes it megabytes long, and nothing says how long. So it is read through a window that grows.

import type { ChorusError } from "../../protocol/errors.ts";
import { brief, damagedFile as invalid, unsupportedFile } from "../json-fields.ts";
import { joinedBytes } from "../joined-bytes.ts";
import { refuseText } from "../safetensors-header.ts";
import { GGML_TYPES, OTHER_GGML_TYPES, type GgmlType } from "./ggml-types.ts";

/** An array of arrays is refused. An integer that no number holds exactly is a bigint. */
export type GgufValue = GgufScalar | readonly GgufScalar[];
type GgufScalar = string | number | boolean | bigint;

export interface GgufTensor {
  readonly name: string;
  /** Rows first, as in safetensors. */
  readonly shape: readonly number[];
  readonly type: GgmlType;
  /** Byte range [begin, end) in the file. */
  readonly begin: number;
  readonly end: number;
}

export interface GgufHeader {
  /** The file's name, for error messages. */
  readonly file: string;
  readonly pairs: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
}

/** Returns bytes [begin, end) of a file, or fewer if it ends before. */
export type ReadBytes = (begin: number, end: number) => Promise<Uint8Array>;

const FIRST_WINDOW_BYTES = 2 ** 20;
/** Vocabularies of a quarter of a million tokens take 15 MB. */
const MAX_HEADER_BYTES = 100_000_000;
/** Of all lists together. A vocabulary of a quarter of a million tokens has a million and a half. */
const MAX_VALUES = 2 ** 23;
const MAX_DIMENSIONS = 4;
const DEFAULT_ALIGNMENT = 32;

/**
 * Reads the header, and checks that each tensor lies inside the file, apart from the others.
 * @param fileBytes null: the file is still arriving, and its size is not known
 * @throws ChorusError model_invalid or model_unsupported, naming the file, and the pair or tensor
 */
export async function readGgufHeader(read: ReadBytes, fileBytes: number | null, file: string): Promise<GgufHeader> {
  let window: Uint8Array = new Uint8Array();
  for (let bytes = FIRST_WINDOW_BYTES; ; bytes *= 2) {
    const end = Math.min(bytes, fileBytes ?? Infinity);
    window = joinedBytes([window, await read(window.length, end)]);
    // A file that is shorter than it was said to be ends here.
    const size = window.length < end ? window.length : fileBytes;
    const header = parse(window, size, file);
    if (header !== null) return header;
    if (window.length >= MAX_HEADER_BYTES) throw invalid(file, `its header is longer than ${MAX_HEADER_BYTES} bytes`);
  }
}

/** Returns null if the header goes on after the window. */
function parse(window: Uint8Array, fileBytes: number | null, file: string): GgufHeader | null {
  try {
    return parseWhole(new Cursor(window, fileBytes ?? Infinity, file), fileBytes, file);
  } catch (error) {
    if (error instanceof WindowEnds) return null;
    throw error;
  }
}

function parseWhole(cursor: Cursor, fileBytes: number | null, file: string): GgufHeader {
  readMagic(cursor, file);
  const numTensors = cursor.count("the number of tensors", 33);
  const numPairs = cursor.count("the number of pairs", 13);
  const pairs = new Map<string, GgufValue>();
  for (let i = 0; i < numPairs; i++) {
    const key = cursor.string(`the key of pair ${i + 1}`);
    if (key === "") throw invalid(file, `the key of pair ${i + 1} is empty`);
    const shown = brief(key);
    if (pairs.has(key)) throw invalid(file, `it has two pairs ${shown}`);
    pairs.set(key, cursor.value(shown, cursor.u32(shown)));
  }
  const described: Described[] = [];
  for (let i = 0; i < numTensors; i++) described.push(readTensor(cursor, i, file));
  const alignment = alignmentOf(pairs, file);
  const dataBegin = Math.ceil(cursor.at / alignment) * alignment;
  const tensors = described.map((tensor) => placed(tensor, dataBegin, alignment, file));
  checkPlaces(tensors, fileBytes, file);
  const count = pairs.get("split.tensors.count");
  if (!pairs.has("split.count") && count !== undefined && count !== tensors.length)
    throw invalid(file, `split.tensors.count is ${brief(String(count))}, but it has ${tensors.length} tensors`);
  return { file, pairs, tensors };
}

function readMagic(cursor: Cursor, file: string): void {
  refuseText(cursor.peek(8), file);
  const magic = new TextDecoder("latin1").decode(cursor.take(4, "its first four bytes"));
  if (magic !== "GGUF") throw invalid(file, `it begins with ${brief(magic)}, not with "GGUF"`);
  const version = cursor.u32("the version");
  if (version === 0) throw invalid(file, "its version is 0");
  if (version === 2 || version === 3) return;
  const what = version % 0x10000 === 0 ? "is big-endian" : `has version ${version} of the format`;
  throw unsupported(file, `${file} ${what}; versions 2 and 3 are read, little-endian`);
}

interface Described {
  readonly name: string;
  readonly shape: readonly number[];
  readonly type: GgmlType;
  readonly bytes: number;
  readonly offset: bigint;
}

function readTensor(cursor: Cursor, i: number, file: string): Described {
  const name = cursor.string(`the name of tensor ${i + 1}`);
  const here = `tensor ${brief(name)}`;
  const numDimensions = cursor.u32(here);
  if (numDimensions > MAX_DIMENSIONS)
    throw invalid(file, `${here} has ${numDimensions} dimensions; at most ${MAX_DIMENSIONS} are allowed`);
  const shape = Array.from({ length: numDimensions }, () => Number(cursor.u64(here))).reverse();
  const weights = shape.reduce((product, size) => product * size, 1);
  if (shape.length === 0 || weights === 0 || !Number.isSafeInteger(weights))
    throw invalid(file, `${here} has shape [${shape.join(", ")}]`);
  const type = typeOf(cursor.u32(here), here, file);
  const columns = shape.at(-1) ?? 1;
  if (columns % type.blockWeights !== 0) {
    const why = `has rows of ${columns} weights, no multiple of ${type.name}'s blocks of ${type.blockWeights}`;
    throw invalid(file, `${here} ${why}`);
  }
  return { name, shape, type, bytes: (weights / type.blockWeights) * type.blockBytes, offset: cursor.u64(here) };
}

function typeOf(id: number, tensor: string, file: string): GgmlType {
  const type = GGML_TYPES.get(id);
  if (type) return type;
  const name = OTHER_GGML_TYPES.get(id);
  const known = [...GGML_TYPES.values()].map((one) => one.name).join(", ");
  const what = `type ${id}${name === undefined ? "" : ` (${name})`}`;
  throw unsupported(file, `${file}: ${tensor} is stored as ${what}, which is not read; these are: ${known}`);
}

function alignmentOf(pairs: ReadonlyMap<string, GgufValue>, file: string): number {
  const alignment = pairs.get("general.alignment") ?? DEFAULT_ALIGNMENT;
  if (Number.isSafeInteger(alignment) && Number.isInteger(Math.log2(alignment as number))) return alignment as number;
  throw invalid(file, `general.alignment is ${brief(String(alignment))}; it must be a power of two`);
}

function placed({ name, shape, type, bytes, offset }: Described, data: number, alignment: number, file: string) {
  const begin = data + Number(offset);
  if (!Number.isSafeInteger(begin) || Number(offset) % alignment !== 0)
    throw invalid(file, `tensor ${brief(name)} begins at byte ${offset} of the data, no multiple of ${alignment}`);
  return { name, shape, type, begin, end: begin + bytes };
}

function checkPlaces(tensors: readonly GgufTensor[], fileBytes: number | null, file: string): void {
  const names = new Set<string>();
  let before = 0;
  for (const { name, begin, end } of tensors.toSorted((a, b) => a.begin - b.begin || a.end - b.end)) {
    if (names.has(name)) throw invalid(file, `it lists tensor ${brief(name)} twice`);
    names.add(name);
    if (begin < before) throw invalid(file, `tensor ${brief(name)} begins inside the one before it`);
    if (end > (fileBytes ?? Infinity)) {
      const where = `tensor ${brief(name)} ends at byte ${end}, but the file has ${fileBytes}`;
      throw invalid(file, `${where}: it may have been cut short`);
    }
    before = end;
  }
}

/** Thrown where the header goes on after the window. */
class WindowEnds extends Error {}

const STRING = 8;
const ARRAY = 9;

/** Bytes of a value, and how it is read from a place. */
type Scalar = readonly [bytes: number, read: (view: DataView, at: number) => GgufScalar];

/** By their kinds. */
const SCALARS: ReadonlyMap<number, Scalar> = new Map<number, Scalar>([
  [0, [1, (view, at) => view.getUint8(at)]],
  [1, [1, (view, at) => view.getInt8(at)]],
  [2, [2, (view, at) => view.getUint16(at, true)]],
  [3, [2, (view, at) => view.getInt16(at, true)]],
  [4, [4, (view, at) => view.getUint32(at, true)]],
  [5, [4, (view, at) => view.getInt32(at, true)]],
  [6, [4, (view, at) => view.getFloat32(at, true)]],
  [7, [1, (view, at) => view.getUint8(at) !== 0]],
  [10, [8, (view, at) => exact(view.getBigUint64(at, true))]],
  [11, [8, (view, at) => exact(view.getBigInt64(at, true))]],
  [12, [8, (view, at) => view.getFloat64(at, true)]],
]);

/** Reads one field after the other. What would go beyond the file is refused before memory is taken for it. */
class Cursor {
  at = 0;
  #values = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #fileBytes: number;
  readonly #file: string;
  readonly #text = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(bytes: Uint8Array, fileBytes: number, file: string) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#fileBytes = fileBytes;
    this.#file = file;
  }

  peek(length: number): Uint8Array {
    return this.#bytes.subarray(this.at, this.at + length);
  }

  take(length: number, what: string): Uint8Array {
    const begin = this.#pass(length, what);
    return this.#bytes.subarray(begin, begin + length);
  }

  u32(what: string): number {
    return this.#view.getUint32(this.#pass(4, what), true);
  }

  u64(what: string): bigint {
    return this.#view.getBigUint64(this.#pass(8, what), true);
  }

  string(what: string): string {
    const length = this.count(what, 1);
    return this.#text.decode(this.take(length, what));
  }

  /** Reads a number of things that take at least so many bytes each. */
  count(what: string, leastBytes: number): number {
    const count = this.u64(what);
    const room = Math.min(this.#fileBytes - this.at, MAX_HEADER_BYTES);
    if (count > BigInt(Math.floor(room / leastBytes)))
      throw invalid(this.#file, `${what} would take ${count} times ${leastBytes} bytes, which it doesn't have`);
    return Number(count);
  }

  /** Reads a pair's value. */
  value(key: string, kind: number): GgufValue {
    if (kind !== ARRAY) return this.#reader(key, kind).read();
    const of = this.u32(key);
    const { bytes, read } = this.#reader(key, of);
    const count = this.count(key, bytes);
    this.#values += count;
    if (this.#values > MAX_VALUES)
      throw invalid(this.#file, `up to ${key}, its lists have more than ${MAX_VALUES} values`);
    if (of !== STRING) this.#need(count * bytes, key);
    const values: GgufScalar[] = [];
    for (let i = 0; i < count; i++) values.push(read());
    return values;
  }

  /** Returns what reads values of a kind, and the least bytes of each. */
  #reader(key: string, kind: number): { readonly bytes: number; readonly read: () => GgufScalar } {
    if (kind === STRING) return { bytes: 8, read: () => this.string(key) };
    if (kind === ARRAY) throw invalid(this.#file, `${key} is an array of arrays`);
    const scalar = SCALARS.get(kind);
    if (scalar === undefined) throw invalid(this.#file, `${key} has values of the unknown kind ${kind}`);
    const [bytes, read] = scalar;
    return { bytes, read: () => read(this.#view, this.#pass(bytes, key)) };
  }

  /** Goes on after the next bytes, and returns where they begin. */
  #pass(length: number, what: string): number {
    this.#need(length, what);
    this.at += length;
    return this.at - length;
  }

  #need(length: number, what: string): void {
    const end = this.at + length;
    if (end > this.#fileBytes) throw invalid(this.#file, `it ends inside ${what}`);
    if (end > this.#bytes.length) throw new WindowEnds();
  }
}

function exact(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function unsupported(file: string, what: string): ChorusError {
  return unsupportedFile(file, `${what}.`);
}
