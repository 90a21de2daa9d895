// A model of any size with random weights, as a folder in Hugging Face layout. Speed does not depend on the values; the
// compared tokens do, and this model's differ at every step:
//
// - The weights are larger than an untrained model's, so that attention and MLPs outweigh the embedding. With those of
//   an untrained model, greedy decoding repeats one token.
// - They are rounded to half precision. f32 and f16 then hold the very same numbers, and each engine may keep them as it
//   likes.
// - The vocabulary is ASCII, so that whatever is generated is valid UTF-8; wllama 3.8 aborts on text that is not.

import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { MODEL_SIZES, type ModelSize } from "../model/model-sizes.ts";
import { configOf } from "../model/random-model.ts";
import { float32ToFloat16 } from "../../src/files/half.ts";
import { describeModel } from "../../src/models/families.ts";
import { weightsOf, type Operation, type Weight } from "../../src/models/graph.ts";
import { asciiTokenizer } from "../../tests/models/ascii-tokenizer.ts";

export const SIZES = {
  tiny: { nLayer: 2, nEmbd: 64, nHead: 4, vocabSize: 512, nPositions: 128 },
  small: { nLayer: 6, nEmbd: 384, nHead: 6, vocabSize: 8192, nPositions: 1024 },
  gpt2: MODEL_SIZES.gpt2,
  "tiny-llama": MODEL_SIZES["tiny-llama"],
  "smollm2-135m": MODEL_SIZES["smollm2-135m"],
  "qwen3-0.6b": MODEL_SIZES["qwen3-0.6b"],
} as const satisfies Record<string, ModelSize>;

/** Writes config.json, tokenizer.json and model.safetensors (F16). The same seed gives the same bytes. */
export async function writeRandomCheckpoint(folder: string, size: ModelSize, seed: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const writeJson = (name: string, json: unknown) => writeFile(join(folder, name), JSON.stringify(json));
  const config = configOf(size);
  const { bos_token_id, eos_token_id } = config;
  await writeJson("config.json", config);
  await writeJson("generation_config.json", { bos_token_id, eos_token_id });
  await writeJson("tokenizer_config.json", { tokenizer_class: "GPT2Tokenizer", eos_token: "<|endoftext|>" });
  await writeJson("tokenizer.json", asciiTokenizer(size.vocabSize));
  await writeWeights(join(folder, "model.safetensors"), listTensors(config), seed);
}

/** name, shape, standard deviation; 0: all ones. */
type RandomTensor = readonly [name: string, shape: readonly number[], deviation: number];

const EMBEDDING_DEVIATION = 0.1;
const BIAS_DEVIATION = 0.02;
/** Times 1/sqrt(inputs): a row of unit values then grows a little. */
const LINEAR_GAIN = 1.4;

function listTensors(config: unknown): RandomTensor[] {
  const { graph } = describeModel(config);
  const deviations = new Map(graph.operations.flatMap(deviationsOf));
  return weightsOf(graph).flatMap((weight) =>
    weight.tensors.map(({ name, shape }) => [name, shape, deviations.get(weight) ?? BIAS_DEVIATION] as const),
  );
}

/** Returns the deviations of all weights but biases. */
function deviationsOf(operation: Operation): (readonly [Weight, number])[] {
  switch (operation.type) {
    case "embed":
      return [operation.table, ...(operation.positions ? [operation.positions] : [])].map(
        (weight) => [weight, EMBEDDING_DEVIATION] as const,
      );
    case "norm":
      return [[operation.norm.weight, 0]];
    case "linear":
      return [[operation.linear.matrix, LINEAR_GAIN / Math.sqrt(operation.linear.matrix.inputs)]];
    case "gate":
      return [operation.gate.matrix, operation.up.matrix].map(
        (matrix) => [matrix, LINEAR_GAIN / Math.sqrt(matrix.inputs)] as const,
      );
    case "head":
      return [[operation.table, EMBEDDING_DEVIATION]];
    case "rotary":
      return operation.norms
        ? [operation.norms.queries, operation.norms.keys].map(({ weight }) => [weight, 0] as const)
        : [];
    case "attention":
      return [];
  }
}

async function writeWeights(path: string, tensors: readonly RandomTensor[], seed: number): Promise<void> {
  const header: Record<string, unknown> = {};
  let offset = 0;
  for (const [name, shape] of tensors) {
    const bytes = 2 * elementsOf(shape);
    header[name] = { dtype: "F16", shape, data_offsets: [offset, offset + bytes] };
    offset += bytes;
  }
  // Spaces at the end of the header align the data.
  const text = JSON.stringify(header);
  const headerBytes = Buffer.from(text.padEnd(Math.ceil(text.length / 8) * 8));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(headerBytes.length));

  const normal = normalNumbers(seed);
  const file = await open(path, "w");
  try {
    await file.writeFile(prefix);
    await file.writeFile(headerBytes);
    for (const [, shape, deviation] of tensors) {
      const values = Float32Array.from({ length: elementsOf(shape) }, () =>
        deviation === 0 ? 1 : deviation * normal(),
      );
      await file.writeFile(new Uint8Array(float32ToFloat16(values).buffer));
    }
  } finally {
    await file.close();
  }
}

function elementsOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** A stream of normal deviates, by Box and Muller out of a 32-bit counter that is hashed. */
function normalNumbers(seed: number): () => number {
  let counter = seed >>> 0;
  const uniform = () => {
    counter = (counter + 0x9e3779b9) >>> 0;
    let bits = Math.imul(counter ^ (counter >>> 16), 0x21f0aaad);
    bits = Math.imul(bits ^ (bits >>> 15), 0x735a2d97);
    return ((bits ^ (bits >>> 15)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}
