// Reads a checkpoint for the converters: all of it in memory, in f32.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { describeModel } from "../../src/models/families.ts";
import { parseGpt2Config, type Gpt2Config } from "../../src/models/gpt2/config.ts";
import { weightsOf } from "../../src/models/graph.ts";
import { openWeights } from "../../src/models/model-weights.ts";
import { openSafetensors } from "../../src/files/safetensors.ts";
import { readF32 } from "../../src/files/tensor.ts";
import type { TokenizerJson } from "../../src/files/tokenizer-json.ts";
import { ModelTokenizer } from "../../src/files/tokenizer.ts";

export interface PeerCheckpoint {
  readonly weights: PeerWeights;
  readonly tokenizer: ModelTokenizer;
  readonly vocabulary: Vocabulary;
}

/** A norm's, or a linear layer's ([in, out] and [out]). */
export interface WeightAndBias {
  readonly weight: Float32Array;
  readonly bias: Float32Array;
}

/** GPT-2's, with a head that is the token embedding. Names and shapes are those of src/models/gpt2/gpt2.ts. */
export interface PeerWeights {
  readonly config: Gpt2Config;
  readonly numParameters: number;
  readonly wte: Float32Array;
  readonly wpe: Float32Array;
  readonly layers: readonly Record<"ln1" | "qkv" | "proj" | "ln2" | "fc" | "fcProj", WeightAndBias>[];
  readonly lnF: WeightAndBias;
}

/** Byte-level BPE, as tokenizer.json writes it. */
export interface Vocabulary {
  /** By id. */
  readonly tokens: readonly string[];
  /** Two tokens with a space between, best first. */
  readonly merges: readonly string[];
  readonly controlTokenIds: readonly number[];
}

/** @throws Error where the model is a GPT-2 that the peers' own GPT-2 is not. */
export async function readCheckpoint(folder: string): Promise<PeerCheckpoint> {
  const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(join(folder, file), "utf8"));
  const configJson = await readJson("config.json");
  const config = parseGpt2Config(configJson);
  if (config.activation !== "gelu_tanh" || !config.tieWordEmbeddings || config.scaleAttnByInverseLayerIdx) {
    throw new Error(`${folder}: only GPT-2 as it was published (gelu_new, tied head) can be converted.`);
  }
  const weights = await readWeights(join(folder, "model.safetensors"), configJson);
  const tokenizerJson = (await readJson("tokenizer.json")) as TokenizerJson;
  return {
    weights,
    tokenizer: new ModelTokenizer({
      json: { ...tokenizerJson, alphabet: "bytes" },
      chatTemplate: null,
      tokenNames: {},
      eosTokenIds: [],
    }),
    vocabulary: readVocabulary(tokenizerJson),
  };
}

async function readWeights(path: string, configJson: unknown): Promise<PeerWeights> {
  const checkpoint = await openSafetensors(new Blob([await readFile(path)]));
  const weights = openWeights(checkpoint, (size) => describeModel(configJson, size));
  const { model, numParameters } = weights;
  const byName = new Map(weightsOf(model.graph).map((weight) => [weight.tensors[0]?.name, weight]));
  const read = async (name: string) => {
    const weight = byName.get(name);
    if (!weight) throw new Error(`${path} has no ${name}`);
    return readF32(weights.tensor(weight));
  };
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
    config: { ...parseGpt2Config(configJson), vocabSize: model.shape.vocabSize },
    numParameters,
    wte: await read("wte.weight"),
    wpe: await read("wpe.weight"),
    layers: await Promise.all(layers),
    lnF: await pair("ln_f"),
  };
}

function readVocabulary({ model, added_tokens: added }: TokenizerJson): Vocabulary {
  const tokens: string[] = [];
  for (const [token, id] of Object.entries(model.vocab)) tokens[id] = token;
  for (const { id, content } of added) tokens[id] = content;
  const merges = model["merges"] as readonly (string | readonly [string, string])[];
  return {
    tokens,
    merges: merges.map((merge) => (typeof merge === "string" ? merge : merge.join(" "))),
    controlTokenIds: added.map(({ id }) => id),
  };
}
