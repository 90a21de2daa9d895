import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import { BYTES_PER_ELEMENT, readF32, type Tensor, type TensorDtype } from "../../src/files/tensor.ts";
import { weightsOf, type Weight } from "../../src/models/graph.ts";
import type { ModelWeights } from "../../src/models/model-weights.ts";

/** A matrix in memory, stored as `dtype`. */
export function tensorOf(values: Float32Array, rows: number, columns: number, dtype: TensorDtype = "F32"): Tensor {
  const bytes = bytesAs(values, dtype);
  const rowBytes = columns * BYTES_PER_ELEMENT[dtype];
  return {
    dtype,
    rows,
    columns,
    readRows: (begin, end) => Promise.resolve(bytes.slice(begin * rowBytes, end * rowBytes)),
  };
}

/** The same model, its weights rounded to `dtype` and stored so. */
export async function storedAs(weights: ModelWeights, dtype: TensorDtype): Promise<ModelWeights> {
  const tensors = new Map<Weight, Tensor>();
  for (const weight of weightsOf(weights.model.graph)) {
    const tensor = weights.tensor(weight);
    tensors.set(weight, tensorOf(await readF32(tensor), tensor.rows, tensor.columns, dtype));
  }
  return { ...weights, tensor: (weight) => tensors.get(weight) ?? weights.tensor(weight) };
}

/** Returns values after they were stored as `dtype`. */
export function roundedAs(values: Float32Array, dtype: TensorDtype): Float32Array<ArrayBuffer> {
  if (dtype === "F16") return float16ToFloat32(float32ToFloat16(values));
  return Float32Array.from(values, (value) => (dtype === "BF16" ? floatOf(bitsOf(value) & 0xffff0000) : value));
}

function bytesAs(values: Float32Array, dtype: TensorDtype): Uint8Array<ArrayBuffer> {
  const stored = {
    F32: () => Float32Array.from(values),
    F16: () => float32ToFloat16(values),
    BF16: () => Uint16Array.from(values, (value) => bitsOf(value) >>> 16),
  }[dtype]();
  return new Uint8Array(stored.buffer);
}

function bitsOf(value: number): number {
  return new Uint32Array(Float32Array.of(value).buffer)[0] ?? 0;
}

function floatOf(bits: number): number {
  return new Float32Array(Uint32Array.of(bits).buffer)[0] ?? NaN;
}
