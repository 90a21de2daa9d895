import { loadGpt2Weights, type Gpt2Weights, type LayerTensors } from "../models/gpt2/gpt2-weights.ts";
import { float32ToFloat16 } from "../files/half.ts";
import { EXTREMES_SUFFIX } from "../files/int8-tensor.ts";
import { encodeSafetensorsHeader, type TensorEntry } from "../files/safetensors-header.ts";
import { openSafetensors } from "../files/safetensors.ts";
import { readF32, type Tensor } from "../files/tensor.ts";
import { quantiseMatrix, type Grouping } from "./weights-as-kept.ts";

/** The weights as they are once they were written to an int8 file (src/files/int8-tensor.ts) and read again. */
export async function int8Checkpoint(weights: Gpt2Weights): Promise<Gpt2Weights> {
  const entries: TensorEntry[] = [];
  const data: Uint8Array<ArrayBuffer>[] = [];
  const add = (name: string, dtype: string, shape: readonly number[], { buffer }: { buffer: ArrayBuffer }) => {
    entries.push({ name, dtype, shape, begin: 0, end: buffer.byteLength });
    data.push(new Uint8Array(buffer));
  };
  const plain = async (name: string, tensor: Tensor, shape: readonly number[]) =>
    add(name, "F32", shape, await readF32(tensor));
  const matrix = async (name: string, tensor: Tensor, grouping: Grouping) => {
    const { rows, columns } = tensor;
    const { integers, extremes, extremesShape } = quantiseMatrix(await readF32(tensor), rows, columns, "q8", grouping);
    add(name, "I8", [rows, columns], integers);
    add(name + EXTREMES_SUFFIX, "F16", extremesShape, float32ToFloat16(extremes));
  };
  const vectors = async (name: string, { weight, bias }: LayerTensors) => {
    await plain(`${name}.weight`, weight, [weight.columns]);
    await plain(`${name}.bias`, bias, [bias.columns]);
  };
  const linear = async (name: string, { weight, bias }: LayerTensors) => {
    await matrix(`${name}.weight`, weight, { groupsAlong: "columns" });
    await plain(`${name}.bias`, bias, [bias.columns]);
  };

  await matrix("wte.weight", weights.wte, { groupsAlong: "rows" });
  await plain("wpe.weight", weights.wpe, [weights.wpe.rows, weights.wpe.columns]);
  for (const [i, layer] of weights.layers.entries()) {
    await vectors(`h.${i}.ln_1`, layer.ln1);
    await linear(`h.${i}.attn.c_attn`, layer.qkv);
    await linear(`h.${i}.attn.c_proj`, layer.proj);
    await vectors(`h.${i}.ln_2`, layer.ln2);
    await linear(`h.${i}.mlp.c_fc`, layer.fc);
    await linear(`h.${i}.mlp.c_proj`, layer.fcProj);
  }
  await vectors("ln_f", weights.lnF);
  const file = new Blob([encodeSafetensorsHeader(entries), ...data]);
  return loadGpt2Weights(await openSafetensors(file), weights.config);
}
