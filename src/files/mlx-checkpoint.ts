import { ChorusError } from "../protocol/errors.ts";
import type { Checkpoint } from "./checkpoint.ts";
import type { MlxPacking } from "./mlx.ts";
import { releaseBytes } from "./release-bytes.ts";
import type { SafetensorsFile } from "./safetensors.ts";
import { floatsOf, type Tensor } from "./tensor.ts";

/** Safetensors whose matrices are packed, but for those that have no scales. Each reads as F32. */
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
    const module = this.#packedModule(name);
    if (module === null) return shape;
    return [...shape.slice(0, -1), ((shape.at(-1) ?? 0) * 32) / this.#packingOf(module).bits];
  }

  tensor(name: string): Tensor {
    const module = this.#packedModule(name);
    if (module === null) return this.#inner.tensor(name);
    const { bits, group } = this.#packingOf(module);
    const [rows = 0, columns = 0] = this.shape(name);
    const [scales, biases] = [this.#inner.tensor(`${module}.scales`), this.#inner.tensor(`${module}.biases`)];
    for (const part of [scales, biases]) {
      if (part.rows === rows && part.columns * group === columns) continue;
      const sizes = `[${part.rows}, ${part.columns}] values for [${rows}, ${columns}] weights in groups of ${group}`;
      throw new ChorusError("model_invalid", `Module "${module}" has ${sizes}.`, this.file);
    }
    const words = this.#inner.words(name);
    const perWord = 32 / bits;
    const mask = 2 ** bits - 1;
    return {
      dtype: "F32",
      rows,
      columns,
      async readRows(begin, end) {
        const [packed, scaleBytes, biasBytes] = await Promise.all(
          [words, scales, biases].map((part) => part.readRows(begin, end)) as [Bytes, Bytes, Bytes],
        );
        const [s, b] = [floatsOf(scaleBytes, scales.dtype), floatsOf(biasBytes, biases.dtype)];
        const view = new DataView(packed.buffer, packed.byteOffset, packed.length);
        const values = new Float32Array((end - begin) * columns);
        for (let at = 0; at < values.length; at++) {
          const word = view.getUint32(4 * Math.floor(at / perWord), true);
          const q = (word >>> (bits * (at % perWord))) & mask;
          const g = Math.floor(at / group);
          values[at] = (s[g] ?? 0) * q + (b[g] ?? 0);
        }
        releaseBytes(packed);
        return new Uint8Array(values.buffer);
      },
    };
  }

  /** Returns the module of a packed weight; null for any other tensor. */
  #packedModule(name: string): string | null {
    const module = name.replace(/\.weight$/, "");
    return module !== name && this.#inner.has(`${module}.scales`) ? module : null;
  }
}

type Bytes = Promise<Uint8Array<ArrayBuffer>>;
