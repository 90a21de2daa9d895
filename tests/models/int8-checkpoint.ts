import { float32ToFloat16 } from "../../src/files/half.ts";
import { EXTREMES_SUFFIX } from "../../src/files/int8-tensor.ts";
import { encodeSafetensorsHeader, type TensorEntry } from "../../src/files/safetensors-header.ts";
import { openSafetensors } from "../../src/files/safetensors.ts";
import { readF32 } from "../../src/files/tensor.ts";
import { weightsOf } from "../../src/models/graph.ts";
import { openWeights, type ModelWeights } from "../../src/models/model-weights.ts";
import { quantiseMatrix } from "../references/weights-as-kept.ts";

/** Returns the weights as they are once they were written to an int8 file (src/files/int8-tensor.ts) and read again. */
export async function int8Checkpoint(weights: ModelWeights): Promise<ModelWeights> {
  const entries: TensorEntry[] = [];
  const data: Uint8Array<ArrayBuffer>[] = [];
  const add = (name: string, dtype: string, shape: readonly number[], { buffer }: { buffer: ArrayBuffer }) => {
    entries.push({ name, dtype, shape, begin: 0, end: buffer.byteLength });
    data.push(new Uint8Array(buffer));
  };
  for (const weight of weightsOf(weights.model.graph)) {
    const [{ name, shape } = { name: "", shape: [] }] = weight.tensors;
    const tensor = weights.tensor(weight);
    const values = await readF32(tensor);
    if (!("layout" in weight)) {
      add(name, "F32", shape, values);
      continue;
    }
    // A group lies along K: down a column of [in, out], along a row of [out, in].
    const groupsAlong = weight.layout === "in-out" ? "columns" : "rows";
    const quantised = quantiseMatrix(values, tensor.rows, tensor.columns, "q8", { groupsAlong });
    add(name, "I8", shape, quantised.integers);
    add(name + EXTREMES_SUFFIX, "F16", quantised.extremesShape, float32ToFloat16(quantised.extremes));
  }
  const file = new Blob([encodeSafetensorsHeader(entries), ...data]);
  return openWeights(await openSafetensors(file), () => weights.model);
}
