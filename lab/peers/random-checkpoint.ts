// A model of any size with random weights, as a folder in Hugging Face layout. Speed does not depend on the values; the
// compared tokens do, and this model's differ at every step:
//
// - The weights are larger than an untrained model's, so that attention and MLPs outweigh the embedding. With those of
//   an untrained model, greedy decoding repeats one token.
// - They are rounded to half precision. f32 and f16 then hold the very same numbers, and each engine may keep them as it
//   likes.
// - The vocabulary is ASCII, so that whatever is generated is valid UTF-8; wllama 3.8 aborts on text that is not.

import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { gpt2Size, MODEL_SIZES, type ModelSize } from "../model/model-sizes.ts";
import { configOf, makeRandomModel, type DeviationOf } from "../model/random-model.ts";
import { asciiTokenizer } from "../../tests/models/ascii-tokenizer.ts";

export const SIZES = {
  tiny: gpt2Size(2, 64, 4, 512, 128),
  small: gpt2Size(6, 384, 6, 8192, 1024),
  gpt2: MODEL_SIZES.gpt2,
  "tiny-llama": MODEL_SIZES["tiny-llama"],
  "smollm2-135m": MODEL_SIZES["smollm2-135m"],
  "qwen3-0.6b": MODEL_SIZES["qwen3-0.6b"],
} as const satisfies Record<string, ModelSize>;

const EMBEDDING_DEVIATION = 0.1;
const BIAS_DEVIATION = 0.02;
/** Times 1/sqrt(inputs): a row of unit values then grows a little. */
const LINEAR_GAIN = 1.4;

const deviationOf: DeviationOf = (weight, { operations }) => {
  const isTable = operations.some((operation) => {
    if (operation.type === "embed") return [operation.table, operation.positions].includes(weight);
    return operation.type === "head" && operation.table === weight;
  });
  if (isTable) return EMBEDDING_DEVIATION;
  return "inputs" in weight ? LINEAR_GAIN / Math.sqrt(weight.inputs) : BIAS_DEVIATION;
};

/** Writes config.json, tokenizer.json and model.safetensors (F16). The same seed gives the same bytes. */
export async function writeRandomCheckpoint(folder: string, size: ModelSize, seed: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const writeJson = (name: string, json: unknown) => writeFile(join(folder, name), JSON.stringify(json));
  for (const file of makeRandomModel(size, seed, deviationOf)) await writeFile(join(folder, file.name), file.stream());
  const { bos_token_id, eos_token_id } = configOf(size);
  await writeJson("generation_config.json", { bos_token_id, eos_token_id });
  await writeJson("tokenizer_config.json", { tokenizer_class: "GPT2Tokenizer", eos_token: "<|endoftext|>" });
  await writeJson("tokenizer.json", asciiTokenizer(size.vocabSize));
}
