// A GGUF file, or one that is split into parts, each a whole GGUF file. The first has the pairs.

import type { Checkpoint } from "../checkpoint.ts";
import { brief, damagedFile as invalid } from "../json-fields.ts";
import { readPart, readWholePart, type ModelFiles, type ReadableFile } from "../model-files.ts";
import { releaseBytes } from "../release-bytes.ts";
import { packedTensor, type Tensor } from "../tensor.ts";
import { readBlocks } from "./ggml-types.ts";
import { partNames } from "./gguf-names.ts";
import { readGgufHeader, type GgufHeader, type GgufTensor, type GgufValue } from "./gguf-header.ts";

interface Part {
  readonly header: GgufHeader;
  readonly file: ReadableFile;
}

export class GgufFile implements Checkpoint {
  readonly file: string;
  readonly pairs: ReadonlyMap<string, GgufValue>;
  readonly #tensors: ReadonlyMap<string, { readonly part: Part; readonly entry: GgufTensor }>;

  private constructor(file: string, parts: readonly Part[]) {
    this.file = file;
    this.pairs = parts[0]?.header.pairs ?? new Map();
    const all = parts.flatMap((part) => part.header.tensors.map((entry) => ({ part, entry })));
    this.#tensors = new Map(all.map((one) => [one.entry.name, one]));
    if (this.#tensors.size < all.length) throw invalid(file, "two of its parts have a tensor of one name");
    const count = this.pairs.get("split.tensors.count");
    if (count === undefined || count === all.length) return;
    throw invalid(file, `split.tensors.count is ${brief(String(count))}, but it has ${all.length} tensors`);
  }

  /**
   * Opens a file by reading its headers. Tensors can be read as soon as their bytes have arrived.
   * @throws ChorusError model_not_found, model_invalid, model_unsupported, model_download_failed, with the file's name
   */
  static async open(files: ModelFiles, file: string): Promise<GgufFile> {
    const parts: Part[] = [];
    const names = partNames(file);
    for (const [i, name] of names.entries()) {
      const opened = await files.tryOpenEarly(name);
      if (opened === undefined && name !== file) throw invalid(file, `${name}, another part of it, is missing`);
      const part = opened ?? (await files.open(name)); // throws model_not_found with the place
      const header = await readGgufHeader((begin, end) => readPart(part, name, begin, end), part.size, name);
      const [number, count] = [header.pairs.get("split.no") ?? 0, header.pairs.get("split.count") || 1];
      if (number !== i || count !== names.length) {
        const its = `split.no is ${brief(number)} and split.count ${brief(count)}`;
        throw invalid(name, `by its name it is part ${i + 1} of ${names.length}, but ${its}: keep the names of parts`);
      }
      parts.push({ header, file: part });
    }
    return new GgufFile(file, parts);
  }

  names(): string[] {
    return [...this.#tensors.keys()];
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  shape(name: string): readonly number[] {
    return this.#find(name).entry.shape;
  }

  tensor(name: string): Tensor {
    const { part, entry } = this.#find(name);
    const { begin, shape } = entry;
    const { form, blockWeights, blockBytes } = entry.type;
    const columns = shape.length === 2 ? (shape[1] ?? 1) : shape.reduce((product, size) => product * size, 1);
    const rows = shape.length === 2 ? (shape[0] ?? 1) : 1;
    const rowBytes = (columns / blockWeights) * blockBytes;
    const readRows = (from: number, to: number) =>
      readWholePart(part.file, part.header.file, begin + from * rowBytes, begin + to * rowBytes);
    if (typeof form === "string") return { dtype: form, rows, columns, readRows };
    return packedTensor(rows, columns, {
      type: entry.type.name,
      packing: form.packing,
      async readRows(from, to) {
        const bytes = await readRows(from, to);
        const packed = readBlocks(form, bytes);
        releaseBytes(bytes);
        return packed;
      },
    });
  }

  #find(name: string) {
    const found = this.#tensors.get(name);
    if (found === undefined) throw invalid(this.file, `it has no tensor "${name}"`);
    return found;
  }
}
