// A GPT-2 of any size with random weights, as a folder in Hugging Face layout. Speed does not depend on the values; the
// tokens compared do, and what is made here says something different at every step:
//
// - The weights are larger than an untrained model's, so that attention and MLPs outweigh the embedding. With those of
//   an untrained model, greedy decoding repeats one token.
// - They are rounded to half precision. f32 and f16 then hold the very same numbers, and each engine may keep them as it
//   likes.
// - The vocabulary is ASCII, so that whatever is generated is valid UTF-8; wllama 3.8 aborts on text that is not.

import { mkdir, open, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { float32ToFloat16 } from "../../src/files/half.ts";
import { asciiTokenizer } from "../../src/testing/models/ascii-tokenizer.ts";

interface Gpt2Size {
  readonly nLayer: number;
  readonly nEmbd: number;
  readonly nHead: number;
  readonly vocabSize: number;
  readonly nPositions: number;
}

export const SIZES = {
  tiny: { nLayer: 2, nEmbd: 64, nHead: 4, vocabSize: 512, nPositions: 128 },
  small: { nLayer: 6, nEmbd: 384, nHead: 6, vocabSize: 8192, nPositions: 1024 },
  gpt2: { nLayer: 12, nEmbd: 768, nHead: 12, vocabSize: 50257, nPositions: 1024 },
} as const satisfies Record<string, Gpt2Size>;

/** Writes config.json, tokenizer.json and model.safetensors (F16). The same seed gives the same bytes. */
export async function writeRandomCheckpoint(folder: string, size: Gpt2Size, seed: number): Promise<void> {
  await mkdir(folder, { recursive: true });
  const writeJson = (name: string, json: unknown) => writeFile(join(folder, name), JSON.stringify(json));
  const eosTokenId = size.vocabSize - 1;
  await writeJson("config.json", {
    architectures: ["GPT2LMHeadModel"],
    model_type: "gpt2",
    activation_function: "gelu_new",
    n_layer: size.nLayer,
    n_embd: size.nEmbd,
    n_head: size.nHead,
    n_positions: size.nPositions,
    n_ctx: size.nPositions,
    vocab_size: size.vocabSize,
    layer_norm_epsilon: 1e-5,
    tie_word_embeddings: true,
    bos_token_id: eosTokenId,
    eos_token_id: eosTokenId,
  });
  await writeJson("generation_config.json", { bos_token_id: eosTokenId, eos_token_id: eosTokenId });
  await writeJson("tokenizer_config.json", { tokenizer_class: "GPT2Tokenizer", eos_token: "<|endoftext|>" });
  await writeJson("tokenizer.json", asciiTokenizer(size.vocabSize));
  await writeWeights(join(folder, "model.safetensors"), size, seed);
}

/** name, shape, standard deviation; 0: all ones. */
type RandomTensor = readonly [name: string, shape: readonly number[], deviation: number];

const EMBEDDING_DEVIATION = 0.1;
const BIAS_DEVIATION = 0.02;
/** Times 1/sqrt(nEmbd): a row of unit values then grows a little. */
const LINEAR_GAIN = 1.4;

function listTensors({ nLayer, nEmbd, vocabSize, nPositions }: Gpt2Size): RandomTensor[] {
  const deviation = LINEAR_GAIN / Math.sqrt(nEmbd);
  const norm = (name: string): RandomTensor[] => [
    [`${name}.weight`, [nEmbd], 0],
    [`${name}.bias`, [nEmbd], BIAS_DEVIATION],
  ];
  const linear = (name: string, inputs: number, outputs: number, scale = 1): RandomTensor[] => [
    [`${name}.weight`, [inputs, outputs], scale * deviation],
    [`${name}.bias`, [outputs], BIAS_DEVIATION],
  ];
  const layer = (_: unknown, index: number): RandomTensor[] => [
    ...norm(`transformer.h.${index}.ln_1`),
    ...linear(`transformer.h.${index}.attn.c_attn`, nEmbd, 3 * nEmbd),
    ...linear(`transformer.h.${index}.attn.c_proj`, nEmbd, nEmbd),
    ...norm(`transformer.h.${index}.ln_2`),
    ...linear(`transformer.h.${index}.mlp.c_fc`, nEmbd, 4 * nEmbd),
    ...linear(`transformer.h.${index}.mlp.c_proj`, 4 * nEmbd, nEmbd, 0.5),
  ];
  return [
    ["transformer.wte.weight", [vocabSize, nEmbd], EMBEDDING_DEVIATION],
    ["transformer.wpe.weight", [nPositions, nEmbd], EMBEDDING_DEVIATION],
    ...Array.from({ length: nLayer }, layer).flat(),
    ...norm("transformer.ln_f"),
  ];
}

async function writeWeights(path: string, size: Gpt2Size, seed: number): Promise<void> {
  const tensors = listTensors(size);
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
