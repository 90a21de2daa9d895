// How a model's matrices are kept by an engine: as plain floats, or packed.

import type { Packing } from "../files/packing.ts";
import { rowsOf, type Tensor } from "../files/tensor.ts";
import type { WeightsDtype } from "../protocol/config.ts";
import type { Gate, Matrix } from "./graph.ts";
import type { Model } from "./model.ts";

export type WeightLayout = "f32" | "f16" | "bf16" | Packing;

/** Neighbouring outputs of a matrix that are kept alike. */
export interface LayoutPart {
  /** The first of its outputs: a multiple of 128. */
  readonly firstOutput: number;
  readonly outputs: number;
  readonly layout: WeightLayout;
}

/** Quantised while a model loads: the scale of a group is its value farthest from zero, as a half, over -128 or -8. */
const QUANTISED = { group: 32, block: 32, floats: "half", hasMinimum: false } as const;
const LAYOUTS: Readonly<Record<WeightsDtype, WeightLayout>> = {
  f32: "f32",
  f16: "f16",
  q8: { ...QUANTISED, bits: 8, centre: 128, factor: -1 / 128 },
  q4: { ...QUANTISED, bits: 4, centre: 8, factor: -1 / 8 },
};

/** Returns how a matrix is kept, in ascending parts of its outputs. */
export function layoutsOf(_model: Model, { outputs }: Matrix, dtype: WeightsDtype): readonly LayoutPart[] {
  return [{ firstOutput: 0, outputs, layout: LAYOUTS[dtype] }];
}

/** Returns how the two matrices of a gate are kept, which are joined. */
export function gateLayout(_model: Model, _gate: Gate, dtype: WeightsDtype): WeightLayout {
  return LAYOUTS[dtype];
}

/** Returns a part of a matrix [outputs, inputs], packed if its layout is and the file's is, too. */
export function partOf(tensor: Tensor, { firstOutput, outputs }: LayoutPart): Tensor {
  return rowsOf(tensor, firstOutput, outputs);
}
