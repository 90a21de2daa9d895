import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import type { Kept } from "./packed-tensor.ts";
import { roundedAs } from "./tensors.ts";

const GROUP = 32;

/** Which values share a scale: 32 down a column (a product's weights [k, n]) or along a row (an embedding). */
interface Grouping {
  readonly groupsAlong: "columns" | "rows";
}

/** A matrix in integers; see shaders/README.md. */
interface QuantisedMatrix {
  readonly integers: Int8Array<ArrayBuffer>;
  /** Each group's extreme, [ceil(rows / 32), columns] or [rows, ceil(columns / 32)]; halves, as floats. */
  readonly extremes: Float32Array<ArrayBuffer>;
  readonly extremesShape: readonly [number, number];
}

/** Returns a matrix's values as the GPU keeps them in `dtype`: for the references of kernels. */
export function weightsAsKept(
  values: Float32Array,
  rows: number,
  columns: number,
  dtype: Kept,
  grouping: Grouping,
): Float32Array<ArrayBuffer> {
  if (dtype === "f32") return Float32Array.from(values);
  if (dtype === "f16" || dtype === "bf16") return roundedAs(values, dtype === "f16" ? "F16" : "BF16");
  const { integers, extremes } = quantiseMatrix(values, rows, columns, dtype, grouping);
  const groupOf = groupFinder(columns, grouping);
  return Float32Array.from(integers, (integer, i) => (integer * (extremes[groupOf(i)] ?? NaN)) / -limitOf(dtype));
}

export function quantiseMatrix(
  values: Float32Array,
  rows: number,
  columns: number,
  dtype: "q8" | "q4",
  grouping: Grouping,
): QuantisedMatrix {
  const extremesShape: [number, number] =
    grouping.groupsAlong === "rows" ? [rows, Math.ceil(columns / GROUP)] : [Math.ceil(rows / GROUP), columns];
  const groupOf = groupFinder(columns, grouping);
  const farthest = new Float32Array(extremesShape[0] * extremesShape[1]);
  values.forEach((value, i) => {
    if (Math.abs(value) > Math.abs(farthest[groupOf(i)] ?? 0)) farthest[groupOf(i)] = value;
  });
  const extremes = float16ToFloat32(float32ToFloat16(farthest));
  const limit = limitOf(dtype);
  const integers = Int8Array.from(values, (value, i) => {
    const scale = (extremes[groupOf(i)] ?? NaN) / -limit;
    return scale === 0 ? 0 : Math.min(limit - 1, Math.max(-limit, roundTiesToEven(value / scale)));
  });
  return { integers, extremes, extremesShape };
}

function limitOf(dtype: "q8" | "q4"): number {
  return dtype === "q8" ? 128 : 8;
}

/** From an element's index to its group's. */
function groupFinder(columns: number, { groupsAlong }: Grouping): (index: number) => number {
  if (groupsAlong === "columns") return (index) => Math.floor(index / columns / GROUP) * columns + (index % columns);
  const groupsARow = Math.ceil(columns / GROUP);
  return (index) => Math.floor(index / columns) * groupsARow + Math.floor((index % columns) / GROUP);
}

function roundTiesToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}
