// A GPT-2's weights for the converters, all in memory.

import { parseGpt2Config, type Gpt2Config } from "../../src/models/gpt2/config.ts";
import type { OpenCheckpoint } from "./open-checkpoint.ts";

/** The weights of a norm, or of a linear layer ([in, out] and [out]). */
export interface WeightAndBias {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

/** GPT-2's weights; the head is the token embedding. Names and shapes are those of src/models/gpt2/gpt2.ts. */
export interface Gpt2Weights {
  readonly family: "gpt2";
  readonly config: Gpt2Config;
  readonly numParameters: number;
  readonly wte: Float32Array;
  readonly wpe: Float32Array;
  readonly layers: readonly Record<"ln1" | "qkv" | "proj" | "ln2" | "fc" | "fcProj", WeightAndBias>[];
  readonly lnF: WeightAndBias;
}

/** @throws Error if the peers' GPT-2 can't run the model */
export async function readGpt2Weights(checkpoint: OpenCheckpoint): Promise<Gpt2Weights> {
  const { folder, model, numParameters, read } = checkpoint;
  const config = parseGpt2Config(checkpoint.config);
  if (config.activation !== "gelu_tanh" || !config.tieWordEmbeddings || config.scaleAttnByInverseLayerIdx) {
    throw new Error(`${folder}: only GPT-2 as it was published (gelu_new, tied head) can be converted.`);
  }
  const pair = async (name: string) => ({ weight: await read(`${name}.weight`), bias: await read(`${name}.bias`) });
  const layers = Array.from({ length: model.shape.numLayers }, async (_, i) => ({
    ln1: await pair(`h.${i}.ln_1`),
    qkv: await pair(`h.${i}.attn.c_attn`),
    proj: await pair(`h.${i}.attn.c_proj`),
    ln2: await pair(`h.${i}.ln_2`),
    fc: await pair(`h.${i}.mlp.c_fc`),
    fcProj: await pair(`h.${i}.mlp.c_proj`),
  }));
  return {
    family: "gpt2",
    config: { ...config, vocabSize: model.shape.vocabSize },
    numParameters,
    wte: await read("wte.weight"),
    wpe: await read("wpe.weight"),
    layers: await Promise.all(layers),
    lnF: await pair("ln_f"),
  };
}
