import { float16ToFloat32, float32ToFloat16 } from "../model/half.ts";
import type { WeightsDtype } from "../protocol/config.ts";

/**
 * What a matrix's values are once the GPU keeps them in `dtype` (shaders/README.md): for the references of kernels.
 * Groups of 32 share a scale down the columns (a product's weights [k, n]) or along the rows (an embedding).
 */
export function weightsAsKept(
  values: Float32Array,
  rows: number,
  columns: number,
  dtype: WeightsDtype,
  { groupsAlong }: { groupsAlong: "columns" | "rows" },
): Float32Array<ArrayBuffer> {
  if (dtype === "f32") return Float32Array.from(values);
  if (dtype === "f16") return float16ToFloat32(float32ToFloat16(values));
  const limit = dtype === "q8" ? 128 : 8;
  const kept = new Float32Array(values.length);
  const [lines, length, lineStep, step] =
    groupsAlong === "rows" ? [rows, columns, columns, 1] : [columns, rows, 1, columns];
  for (let line = 0; line < lines; line++) {
    for (let start = 0; start < length; start += 32) {
      const places = Array.from(
        { length: Math.min(32, length - start) },
        (_, i) => line * lineStep + (start + i) * step,
      );
      const group = places.map((place) => values[place] ?? 0);
      const scale =
        halfOf(group.reduce((most, value) => (Math.abs(value) > Math.abs(most) ? value : most), 0)) / -limit;
      places.forEach((place, i) => {
        const integer = scale === 0 ? 0 : roundTiesToEven((group[i] ?? 0) / scale);
        kept[place] = Math.min(limit - 1, Math.max(-limit, integer)) * scale;
      });
    }
  }
  return kept;
}

function halfOf(value: number): number {
  return float16ToFloat32(float32ToFloat16(Float32Array.of(value)))[0] ?? NaN;
}

function roundTiesToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}
