// If no hash of a checkpoint is known, a sample of its values distinguishes weights from a file that was resumed at the wrong
// byte, or filled with something else.

import { readF32 } from "../files/tensor.ts";
import { ChorusError } from "../protocol/errors.ts";
import { weightsOf } from "./graph.ts";
import type { ModelWeights } from "./model-weights.ts";

/** Most tensors to check, spread over the model; one row of each. */
const MAX_TENSORS = 64;
/** Fewer values prove nothing. */
const LEAST_VALUES = 32;
/** Largest share of values that aren't finite. Halves read at the wrong place have about as many. */
const MAX_NOT_FINITE = 1 / 256;
/** Largest share of values that are too large or too small. Of floats read at the wrong place two thirds are. */
const MAX_IMPLAUSIBLE = 1 / 4;
const [LARGE, SMALL] = [1e6, 1e-20];

/** @throws ChorusError model_invalid, naming a tensor whose values are no weights */
export async function checkValues(weights: ModelWeights): Promise<void> {
  const all = weightsOf(weights.model.graph);
  const step = Math.max(1, all.length / MAX_TENSORS);
  const sample = Array.from({ length: Math.ceil(all.length / step) }, (_, i) => all[Math.floor(i * step)]);
  await Promise.all(
    sample.map(async (weight) => {
      if (weight === undefined) return;
      const tensor = weights.tensor(weight);
      const row = Math.floor(tensor.rows / 2);
      const values = await readF32({ ...tensor, rows: 1, readRows: () => tensor.readRows(row, row + 1) });
      const fault = faultOf(values);
      if (fault === null) return;
      const name = weight.tensors[0]?.name ?? "";
      const message = `Tensor "${name}" holds no weights: ${fault}. The file is damaged, or it is another one; download it again.`;
      throw new ChorusError("model_invalid", message, weights.file);
    }),
  );
}

function faultOf(values: Float32Array): string | null {
  let notFinite = 0;
  let implausible = 0;
  for (const value of values) {
    const size = Math.abs(value);
    if (!Number.isFinite(size)) notFinite += 1;
    else if (size >= LARGE || (size > 0 && size < SMALL)) implausible += 1;
  }
  const { length } = values;
  if (length < LEAST_VALUES) return null;
  if (notFinite > length * MAX_NOT_FINITE) return `${notFinite} of ${length} values looked at are not finite`;
  if (implausible <= length * MAX_IMPLAUSIBLE) return null;
  return `${implausible} of ${length} values looked at are far too large or too small`;
}
