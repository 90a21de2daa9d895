import type { Checkpoint } from "./checkpoint.ts";
import { invalidFile } from "./json-fields.ts";
import { mlxStoredAs, type MlxPacking } from "./mlx.ts";
import { releaseBytes } from "./release-bytes.ts";
import type { SafetensorsFile } from "./safetensors.ts";
import { floatsOf, packedTensor, type Tensor } from "./tensor.ts";

const PAIRS = Uint16Array.from({ length: 256 }, (_, byte) => (byte & 15) | ((byte >> 4) << 8));

/** Safetensors whose matrices are packed, but for those that have no scales. */
export class MlxCheckpoint implements Checkpoint {
  readonly file: string;
  readonly #inner: SafetensorsFile;
  readonly #packingOf: MlxPacking;

  constructor(inner: SafetensorsFile, packingOf: MlxPacking) {
    this.file = inner.file;
    this.#inner = inner;
    this.#packingOf = packingOf;
  }

  names(): string[] {
    return this.#inner.names();
  }

  has(name: string): boolean {
    return this.#inner.has(name);
  }

  shape(name: string): readonly number[] {
    const shape = this.#inner.shape(name);
    const packed = this.#packedModule(name);
    return packed ? [...shape.slice(0, -1), ((shape.at(-1) ?? 0) * 32) / packed.sizes.bits] : shape;
  }

  tensor(name: string): Tensor {
    const known = this.#packedModule(name);
    if (known === null) return this.#inner.tensor(name);
    const { module, sizes } = known;
    const { bits, group } = sizes;
    const [rows = 0, columns = 0] = this.shape(name);
    const [scales, biases] = [this.#inner.tensor(`${module}.scales`), this.#inner.tensor(`${module}.biases`)];
    for (const part of [scales, biases]) {
      if (part.rows === rows && part.columns * group === columns) continue;
      const found = `[${part.rows}, ${part.columns}] values for [${rows}, ${columns}] weights in groups of ${group}`;
      throw invalidFile(this.file, `Module "${module}" has ${found}.`);
    }
    const words = this.#inner.words(name);
    const tensor = packedTensor(rows, columns, {
      ...mlxStoredAs(sizes),
      async readRows(begin, end) {
        const [packed, d, m] = await Promise.all(
          [words, scales, biases].map((part) => part.readRows(begin, end)) as [Bytes, Bytes, Bytes],
        );
        const floats = { d: floatsOf(d, scales.dtype), m: floatsOf(m, biases.dtype), scales: null, minimums: null };
        return { ...floats, integers: bits === 8 ? packed : nibblesOf(packed) };
      },
    });
    // A product of 8 bits and an f32 scale is rounded, which fused sums leave out.
    return scales.dtype === "F32" ? { ...tensor, packed: null } : tensor;
  }

  /** Returns the module of a packed weight; null for any other tensor. */
  #packedModule(name: string) {
    const module = name.replace(/\.weight$/, "");
    if (module === name || !this.#inner.has(`${module}.scales`)) return null;
    const known = this.#packingOf(module);
    return known && { module, sizes: known };
  }
}

type Bytes = Promise<Uint8Array<ArrayBuffer>>;

/** Two weights in each byte, the first in its low half. */
function nibblesOf(packed: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const pairs = new Uint16Array(packed.length);
  for (let i = 0; i < packed.length; i++) pairs[i] = PAIRS[packed[i] ?? 0] ?? 0;
  releaseBytes(packed);
  return new Uint8Array(pairs.buffer);
}
