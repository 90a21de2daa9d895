// The tensors of a safetensors file, read on demand. See safetensors-header.ts for the layout.

import { ChorusError } from "../protocol/errors.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { invalidFile, unsupportedFile } from "./json-fields.ts";
import { readPart, readWholePart, type ReadableFile } from "./model-files.ts";
import { EXTREMES_SUFFIX, int8Tensor, isExtremesShape } from "./int8-tensor.ts";
import { headerEnd, parseSafetensorsHeader, PREFIX_BYTES, type TensorEntry } from "./safetensors-header.ts";
import { BYTES_PER_ELEMENT, readF32, type Tensor, type TensorDtype } from "./tensor.ts";

const FILE = "model.safetensors";

/**
 * Opens a file by reading its header only. The header alone gives the size of a file that is still arriving.
 * @throws ChorusError model_invalid, with the tensor; model_download_failed
 */
export async function openSafetensors(file: ReadableFile, name = FILE): Promise<SafetensorsFile> {
  const read = (end: number) => readPart(file, name, 0, end);
  const bytes = await read(headerEnd(await read(PREFIX_BYTES), file.size, name));
  const { entries, dataBegin } = parseSafetensorsHeader(bytes, file.size, name);
  return new SafetensorsFile(entries, (begin, end) => readWholePart(file, name, dataBegin + begin, dataBegin + end));
}

type ReadBytes = (begin: number, end: number) => Promise<Uint8Array<ArrayBuffer>>;

export class SafetensorsFile implements Checkpoint {
  readonly file = FILE;
  readonly #entries: ReadonlyMap<string, TensorEntry>;
  /** Reads a range of the data. Offset 0 is the first byte after the header. */
  readonly #read: ReadBytes;

  constructor(entries: readonly TensorEntry[], readData: ReadBytes) {
    this.#entries = new Map(entries.map((entry) => [entry.name, entry]));
    this.#read = readData;
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

  /** int8 (see int8-tensor.ts) reads as F32. */
  tensor(name: string): Tensor {
    const entry = this.#entry(name);
    const [rows, columns] = entry.shape.length === 2 ? entry.shape : [1, entry.shape.reduce((a, b) => a * b, 1)];
    return entry.dtype === "I8" ? this.#int8(entry, rows, columns) : this.#plain(entry, rows, columns);
  }

  /** Returns a matrix of U32, unread. @throws ChorusError model_unsupported for another type */
  words(name: string): Pick<Tensor, "readRows"> {
    const entry = this.#entry(name);
    const [, columns = 0] = entry.shape;
    if (entry.dtype === "U32") return { readRows: this.#rowReader(entry, 4 * columns) };
    throw unsupportedFile(FILE, `Tensor "${name}" is stored as ${entry.dtype}; MLX packs into U32.`);
  }

  #plain(entry: TensorEntry, rows = 0, columns = 0): Tensor {
    const { name, dtype } = entry;
    const known = `F32, F16, BF16, or I8 with "${name}${EXTREMES_SUFFIX}"`;
    if (!isTensorDtype(dtype))
      throw unsupportedFile(FILE, `Tensor "${name}" is stored as ${dtype}; weights must be ${known}.`);
    return { dtype, rows, columns, readRows: this.#rowReader(entry, columns * BYTES_PER_ELEMENT[dtype]) };
  }

  #int8(entry: TensorEntry, rows = 0, columns = 0): Tensor {
    const extremesName = entry.name + EXTREMES_SUFFIX;
    const extremes = this.#entries.get(extremesName);
    const stated = `Tensor "${entry.name}" is stored as I8`;
    if (!extremes)
      throw invalidFile(FILE, `${stated}, but there is no "${extremesName}" with the extremes of its groups.`);
    if (!isExtremesShape(rows, columns, extremes.shape)) {
      const its = `Tensor "${extremesName}" has shape [${extremes.shape.join(", ")}]`;
      const of = `"${entry.name}" [${entry.shape.join(", ")}]`;
      throw invalidFile(FILE, `${its}; a group is 32 rows or 32 columns of ${of}.`);
    }
    const stored = this.#plain(extremes, ...extremes.shape);
    return int8Tensor({
      rows,
      columns,
      readIntegers: this.#rowReader(entry, columns),
      extremesShape: extremes.shape,
      readExtremes: () => readF32(stored),
    });
  }

  #rowReader({ begin }: TensorEntry, rowBytes: number): Tensor["readRows"] {
    return (first, end) => this.#read(begin + first * rowBytes, begin + end * rowBytes);
  }

  #entry(name: string): TensorEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new ChorusError("model_invalid", `The checkpoint has no tensor "${name}".`);
    return entry;
  }
}

function isTensorDtype(dtype: string): dtype is TensorDtype {
  return Object.hasOwn(BYTES_PER_ELEMENT, dtype);
}
