// Products of integers, by their definition: see src/backends/cpu/kernels/quantise-rows.ts and integer-tiles.ts.

import { groupScales, integersOf, type PackedRows, type Packing } from "../../src/files/packing.ts";

const GROUP = 32;
const { fround } = Math;

export interface QuantisedRow {
  readonly integers: Int8Array;
  /** One for each 32 integers. */
  readonly scales: Float32Array;
}

export function quantiseRow(x: Float32Array): QuantisedRow {
  const integers = new Int8Array(x.length);
  const scales = new Float32Array(x.length / GROUP);
  for (let g = 0; g < scales.length; g++) {
    const values = x.subarray(g * GROUP, (g + 1) * GROUP);
    const scale = scaleOf(values);
    scales[g] = scale;
    values.forEach((value, i) => (integers[g * GROUP + i] = scale > 0 ? tiesToEven(value / scale) : 0));
  }
  return { integers, scales };
}

function scaleOf(values: Float32Array): number {
  if (values.some((value) => !Number.isFinite(value))) return NaN;
  const scale = fround(values.reduce((most, value) => Math.max(most, Math.abs(value)), 0) * fround(1 / 127));
  if (scale < 2 ** -126) return 0;
  // As float64 the exponent is exact, and so are 12 bits.
  const unit = 2 ** (Math.floor(Math.log2(scale)) - 11);
  const up = Math.ceil(scale / unit) * unit;
  return up;
}

function tiesToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}

/** Returns x w: x [rows, columns], w packed rows [outputs, columns], y [rows, outputs]. Columns are whole chunks. */
export function integerProduct(
  x: readonly QuantisedRow[],
  packing: Packing,
  w: PackedRows,
  outputs: number,
): Float32Array {
  const integersOfW = integersOf(packing, w);
  const columns = integersOfW.length / outputs;
  const { scales, minimums } = groupScales(packing, w);
  const steps = Math.min(packing.group, GROUP);
  const y = x.flatMap(({ integers, scales: xScales }) =>
    Array.from({ length: outputs }, (_, n) => {
      let total = 0;
      for (let chunk = 0; chunk < columns; chunk += GROUP) {
        let sum = 0;
        for (let k = chunk; k < Math.min(chunk + GROUP, columns); k += steps) {
          let [dot, ones] = [0, 0];
          for (let i = k; i < k + steps; i++) {
            dot += ((integersOfW[n * columns + i] ?? NaN) - packing.centre) * (integers[i] ?? NaN);
            ones += integers[i] ?? NaN;
          }
          const group = Math.floor((n * columns + k) / packing.group);
          let part = fround(dot * (scales[group] ?? NaN));
          if (packing.hasMinimum) part = fround(part + fround(ones * (minimums[group] ?? NaN)));
          sum = k === chunk ? part : fround(sum + part);
        }
        total = fround(total + fround(sum * (xScales[chunk / GROUP] ?? NaN)));
      }
      return total;
    }),
  );
  return Float32Array.from(y);
}
