// Weights as MLX packs them, in safetensors:
//
//   NAME.weight  U32 [rows, columns * bits / 32]: weight i of a word is its bits from i * bits on
//   NAME.scales, NAME.biases  [rows, columns / group]
//
//   value = scale * q + bias. config.json's "quantization" has bits and group, and names the modules that differ.

import { ChorusError } from "../protocol/errors.ts";
import { isObject } from "../protocol/json-object.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { brief } from "./json-fields.ts";
import { CONFIG_FILE } from "./model-folder.ts";
import { releaseBytes } from "./release-bytes.ts";
import type { SafetensorsFile } from "./safetensors.ts";
import { floatsOf, type Tensor } from "./tensor.ts";

const BITS: readonly unknown[] = [4, 8];
const GROUPS: readonly unknown[] = [32, 64, 128];

interface Packing {
  readonly bits: number;
  readonly group: number;
}

/** Returns how a module's weights are packed. */
export type MlxPacking = (module: string) => Packing;

/**
 * Reads config.json's "quantization"; null without one.
 * @throws ChorusError model_unsupported for other bits, groups or modes
 */
export function mlxPacking(config: unknown): MlxPacking | null {
  const json = isObject(config) ? config["quantization"] : null;
  if (!isObject(json)) return null;
  const common = readPacking(json);
  const others = Object.entries(json).filter((entry): entry is [string, Record<string, unknown>] => isObject(entry[1]));
  const own = new Map(others.map(([module, packing]) => [module, readPacking({ ...json, ...packing })]));
  return (module) => own.get(module) ?? common;
}

function readPacking({ bits, group_size: group, mode = "affine" }: Record<string, unknown>): Packing {
  if (BITS.includes(bits) && GROUPS.includes(group) && mode === "affine")
    return { bits: bits as number, group: group as number };
  const what = `quantization ${brief({ bits, group_size: group, mode })}`;
  throw new ChorusError(
    "model_unsupported",
    unsupportedQuantisation(what, "4 or 8 bits in groups of 32, 64 or 128"),
    CONFIG_FILE,
  );
}

/** Returns why packed weights are refused, and what to take instead. */
export function unsupportedQuantisation(what: string, known: string): string {
  const instead = 'Take a GGUF file of the same model ("owner/name-GGUF:Q4_K_M").';
  return `This model's config.json asks for ${what}, which is not supported: weights may be plain, or MLX's of ${known}. ${instead}`;
}

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
