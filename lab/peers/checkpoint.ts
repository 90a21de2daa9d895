// Reads a checkpoint for the converters: all of it in memory, in f32.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { openSafetensors } from "../../src/files/safetensors.ts";
import { readF32 } from "../../src/files/tensor.ts";
import type { TokenizerJson } from "../../src/files/tokenizer-json.ts";
import { ModelTokenizer } from "../../src/files/tokenizer.ts";
import { describeModel } from "../../src/models/families.ts";
import { weightsOf, type Weight } from "../../src/models/graph.ts";
import type { Model } from "../../src/models/model.ts";
import { openWeights } from "../../src/models/model-weights.ts";

export interface PeerCheckpoint {
  /** config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The model with the vocabulary of the checkpoint. Its graph is what the converters convert. */
  readonly model: Model;
  readonly numParameters: number;
  /** Returns a weight of the model's graph, row-major. */
  readonly read: (weight: Weight) => Float32Array;
  readonly tokenizer: ModelTokenizer;
  readonly vocabulary: Vocabulary;
}

/** Byte-level BPE, as tokenizer.json writes it. */
interface Vocabulary {
  /** Tokens by id. */
  readonly tokens: readonly string[];
  /** Two tokens with a space between, best first. */
  readonly merges: readonly string[];
  readonly controlTokenIds: readonly number[];
}

/** Families whose names and operators the peers have. */
const FAMILIES = ["gpt2", "llama", "qwen3"];

/** @throws Error for a model that can't be converted */
export async function readCheckpoint(folder: string): Promise<PeerCheckpoint> {
  const readJson = async <Json>(name: string) => JSON.parse(await readFile(join(folder, name), "utf8")) as Json;
  const config = await readJson<PeerCheckpoint["config"]>("config.json");
  const file = await openSafetensors(new Blob([await readFile(join(folder, "model.safetensors"))]));
  const weights = openWeights(file, (vocabSize) => describeModel(config, vocabSize));
  const { model, numParameters } = weights;
  if (!FAMILIES.includes(model.family) || config["rope_scaling"]) {
    throw new Error(`${folder}: only ${FAMILIES.join(", ")} without scaled positions can be converted.`);
  }
  const values = new Map<Weight, Float32Array>();
  for (const weight of weightsOf(model.graph)) values.set(weight, await readF32(weights.tensor(weight)));
  const json = await readJson<TokenizerJson>("tokenizer.json");
  return {
    config,
    model,
    numParameters,
    read: (weight) => values.get(weight) ?? new Float32Array(),
    tokenizer: new ModelTokenizer({
      json: { ...json, alphabet: "bytes" },
      chatTemplate: null,
      toolTemplate: null,
      tokenNames: {},
      eosTokenIds: [],
    }),
    vocabulary: readVocabulary(json),
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

/** Returns the transpose of a row-major matrix [rows, columns]. */
export function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      turned[column * rows + row] = values[row * columns + column] as number;
    }
  }
  return turned;
}
