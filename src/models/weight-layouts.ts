// How a model's matrices are kept by an engine: as plain floats, or packed.

import { commonLayout, isSameLayout, packed, type WeightLayout } from "../files/packing.ts";
import { Q8_0, type GgmlType } from "../files/gguf/ggml-types.ts";
import { layoutOf, rowsOf, type Tensor } from "../files/tensor.ts";
import type { FloatsDtype, WeightsDtype } from "../protocol/config.ts";
import { weightsOf, type Gate, type Matrix } from "./graph.ts";
import type { Model } from "./model.ts";

export type { WeightLayout };

/** Parts begin at multiples of this many outputs. */
const PART_OUTPUTS = 128;

/** Neighbouring outputs of a matrix that are kept alike. */
export interface LayoutPart {
  /** The first of its outputs: a multiple of 128. */
  readonly firstOutput: number;
  readonly outputs: number;
  readonly layout: WeightLayout;
}

/** Quantised while a model loads: the scale of a group is its value farthest from zero, as a half, over -128 or -8. */
const LAYOUTS: Readonly<Record<FloatsDtype, WeightLayout>> = {
  f32: "f32",
  f16: "f16",
  q8: packed(8, 128, 32, { factor: -1 / 128 }),
  q4: packed(4, 8, 32, { factor: -1 / 8 }),
};

/**
 * Returns the types of a packed model's matrices, with their shares of its weights: "Q4_K 64%, Q6_K 36%". Null: none is packed.
 */
export function mixtureOf({ graph, storedAs }: Model): string | null {
  const weights = new Map<string, number>();
  let isPacked = false;
  for (const { name, shape } of weightsOf(graph).flatMap(({ tensors }) => tensors)) {
    const stored = storedAs?.(name);
    const [rows = 0, columns] = shape;
    if (!stored || columns === undefined) continue;
    isPacked ||= typeof stored.layout !== "string";
    weights.set(stored.type, (weights.get(stored.type) ?? 0) + rows * columns);
  }
  if (!isPacked) return null;
  const sum = [...weights.values()].reduce((all, one) => all + one, 0);
  return [...weights]
    .sort(([, a], [, b]) => b - a)
    .map(([type, one]) => `${type} ${Math.round((100 * one) / sum) || "<1"}%`)
    .join(", ");
}

/** Returns the model as a file would hold it whose matrices are all of one type, or Q8_0 where rows are not whole blocks of it. */
export function storedIn(model: Model, type: GgmlType): Model {
  const tensors = weightsOf(model.graph).flatMap((weight) => weight.tensors);
  const columnsOf = new Map(tensors.map(({ name, shape }) => [name, shape[1]]));
  const storedAs = (tensor: string) => {
    const columns = columnsOf.get(tensor);
    if (columns === undefined) return null;
    const { name, form } = columns % type.blockWeights === 0 ? type : Q8_0;
    const layout = typeof form === "string" ? layoutOf({ dtype: form }) : form.packing;
    return { type: name, layout };
  };
  return { ...model, storedAs };
}

/** Returns the formats that a model's weights can have: what is packed is not packed again. */
export function dtypesOf(model: Model): readonly WeightsDtype[] {
  return mixtureOf(model) === null ? ["f32", "f16", "q8", "q4"] : ["stored", "f32", "f16"];
}

/** Returns how a matrix is kept, in ascending parts of its outputs. */
export function layoutsOf(model: Model, matrix: Matrix, dtype: WeightsDtype): readonly LayoutPart[] {
  const { outputs } = matrix;
  const parts: LayoutPart[] = [];
  for (const { layout, rows } of storedLayouts(model, matrix, dtype)) {
    const last = parts.at(-1);
    if (last && isSameLayout(last.layout, layout)) parts[parts.length - 1] = { ...last, outputs: last.outputs + rows };
    else parts.push({ firstOutput: last ? last.firstOutput + last.outputs : 0, outputs: rows, layout });
  }
  if (parts.every(({ firstOutput }) => firstOutput % PART_OUTPUTS === 0)) return parts;
  return [{ firstOutput: 0, outputs, layout: commonLayout(parts.map(({ layout }) => layout)) }];
}

/** Returns how the two matrices of a gate are kept, which are joined. */
export function gateLayout(model: Model, { gate, up }: Gate, dtype: WeightsDtype): WeightLayout {
  const stored = [gate, up].flatMap(({ matrix }) => storedLayouts(model, matrix, dtype));
  return commonLayout(stored.map(({ layout }) => layout));
}

/** Returns a part of a matrix [outputs, inputs], packed if its layout is and the file's is, too. */
export function partOf(tensor: Tensor, { firstOutput, outputs, layout }: LayoutPart): Tensor {
  const part = rowsOf(tensor, firstOutput, outputs);
  if (typeof layout !== "string") return part;
  const { dtype, rows, columns } = part;
  return { dtype, rows, columns, readRows: (begin, end) => part.readRows(begin, end) };
}

/** Returns the layouts of the tensors that make a matrix, with their rows. Packed groups lie along a matrix's inputs only. */
function storedLayouts({ storedAs }: Model, { tensors, outputs, layout: order }: Matrix, dtype: WeightsDtype) {
  if (dtype !== "stored") return [{ layout: LAYOUTS[dtype], rows: outputs }];
  return tensors.map(({ name, shape }) => {
    const layout = storedAs?.(name)?.layout ?? "f32";
    const rows = tensors.length === 1 ? outputs : (shape[0] ?? 0);
    return { layout: order === "in-out" && typeof layout !== "string" ? ("f32" as const) : layout, rows };
  });
}
