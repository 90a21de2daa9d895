import { bfloat16ToFloat32, float16ToFloat32 } from "./half.ts";
import { unpackRows, type PackedRows, type Packing, type WeightLayout } from "./packing.ts";

export type TensorDtype = "F32" | "F16" | "BF16";

export const BYTES_PER_ELEMENT: Readonly<Record<TensorDtype, number>> = { F32: 4, F16: 2, BF16: 2 };

/** A matrix, or a vector as one row, that is read on demand in bands of rows. */
export interface Tensor {
  /** The elements' type in the result of readRows. */
  readonly dtype: TensorDtype;
  readonly rows: number;
  readonly columns: number;
  /** Returns a copy of rows [begin, end), row-major, little-endian. The caller owns it. */
  readRows(begin: number, end: number): Promise<Uint8Array<ArrayBuffer>>;
  /** The same rows as their file packs them, if it does: `readRows` unpacks them to F32. */
  readonly packed?: PackedTensor | null;
  /** Returns `count` rows, where they are packed in another way than all together. */
  rowsOf?(first: number, count: number): Tensor;
}

export interface PackedTensor {
  readonly packing: Packing;
  /** The file's name for it: "Q4_K". */
  readonly type?: string;
  /** Returns rows [begin, end). The caller owns them. */
  readRows(begin: number, end: number): Promise<PackedRows>;
}

export function packedTensor(rows: number, columns: number, packed: PackedTensor): Tensor {
  const readRows: Tensor["readRows"] = async (begin, end) =>
    new Uint8Array(unpackRows(packed.packing, await packed.readRows(begin, end)).buffer);
  return { dtype: "F32", rows, columns, readRows, packed };
}

/** Returns all of a tensor's values, row-major, exactly. */
export async function readF32(tensor: Tensor): Promise<Float32Array<ArrayBuffer>> {
  return floatsOf(await tensor.readRows(0, tensor.rows), tensor.dtype);
}

export interface StoredAs {
  /** "Q4_K", "F16" */
  readonly type: string;
  readonly layout: WeightLayout;
}

export function storedAs(tensor: Tensor): StoredAs {
  return { type: tensor.packed?.type ?? tensor.dtype, layout: layoutOf(tensor) };
}

export function layoutOf({ packed, dtype }: Pick<Tensor, "packed" | "dtype">): WeightLayout {
  return packed?.packing ?? ({ F32: "f32", F16: "f16", BF16: "bf16" } as const)[dtype];
}

/** Returns `count` rows of a tensor, unread. */
export function rowsOf(tensor: Tensor, first: number, count: number): Tensor {
  if (first === 0 && count === tensor.rows) return tensor;
  if (tensor.rowsOf) return tensor.rowsOf(first, count);
  const { packed } = tensor;
  return {
    ...tensor,
    rows: count,
    readRows: (begin, end) => tensor.readRows(first + begin, first + end),
    packed: packed ? { ...packed, readRows: (begin, end) => packed.readRows(first + begin, first + end) } : null,
  };
}

/** Returns tensors that are used together as they are, or all as F32 if their types differ. */
export function inOneType(tensors: readonly Tensor[]): readonly Tensor[] {
  if (tensors.every(({ dtype }) => dtype === tensors[0]?.dtype)) return tensors;
  return tensors.map((tensor) => ({
    ...tensor,
    dtype: "F32",
    async readRows(begin, end) {
      const values = floatsOf(await tensor.readRows(begin, end), tensor.dtype);
      return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    },
  }));
}

/** Returns the values of elements, exactly. Those of F32 share the bytes' memory if their offset is a multiple of 4. */
export function floatsOf(bytes: Uint8Array<ArrayBuffer>, dtype: TensorDtype): Float32Array<ArrayBuffer> {
  const bytesPerElement = BYTES_PER_ELEMENT[dtype];
  // A typed array's offset must be a multiple of its element size.
  const { buffer, byteOffset, length } = bytes.byteOffset % bytesPerElement === 0 ? bytes : bytes.slice();
  switch (dtype) {
    case "F32":
      return new Float32Array(buffer, byteOffset, length / 4);
    case "F16":
      return float16ToFloat32(new Uint16Array(buffer, byteOffset, length / 2));
    case "BF16":
      return bfloat16ToFloat32(new Uint16Array(buffer, byteOffset, length / 2));
  }
}
