// The tensors of a safetensors file (see safetensors-header.ts for its form), read when they are asked for.

import { ChorusError } from "../protocol/errors.ts";
import { bfloat16ToFloat32, float16ToFloat32 } from "./half.ts";
import { parseSafetensorsHeader, type TensorEntry } from "./safetensors-header.ts";

/** @throws ChorusError model_invalid, naming the tensor. */
export function parseSafetensors(file: ArrayBuffer | Uint8Array, name = "model.safetensors"): Checkpoint {
  const bytes = file instanceof Uint8Array ? file : new Uint8Array(file);
  const { entries, dataBegin } = parseSafetensorsHeader(bytes, bytes.length, name);
  return new Checkpoint(entries, bytes.subarray(dataBegin));
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
          "model.safetensors",
        );
    }
  }

  #entry(name: string): TensorEntry {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new ChorusError("model_invalid", `The checkpoint has no tensor "${name}".`);
    return entry;
  }
}

/** Buffer, offset and length of a typed array over these bytes; copied where they begin between two elements. */
function aligned(bytes: Uint8Array, bytesPerElement: number): [ArrayBufferLike, number, number] {
  const { buffer, byteOffset, length } = bytes.byteOffset % bytesPerElement === 0 ? bytes : bytes.slice();
  return [buffer, byteOffset, length / bytesPerElement];
}
