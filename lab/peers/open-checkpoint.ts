// Opens a checkpoint's folder: its weights by the names of src/models, in f32.

import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { readF32 } from "../../src/files/tensor.ts";
import { openSafetensors } from "../../src/files/safetensors.ts";
import { describeModel } from "../../src/models/families.ts";
import { weightsOf } from "../../src/models/graph.ts";
import type { Model } from "../../src/models/model.ts";
import { openWeights } from "../../src/models/model-weights.ts";

export interface OpenCheckpoint {
  readonly folder: string;
  /** config.json. */
  readonly config: unknown;
  /** The model with the vocabulary of the checkpoint. */
  readonly model: Model;
  readonly numParameters: number;
  /** Returns a weight of the model's graph, row-major, under the name of its first tensor. */
  readonly read: (name: string) => Promise<Float32Array>;
}

export async function openCheckpoint(folder: string): Promise<OpenCheckpoint> {
  const config: unknown = JSON.parse(await readFile(join(folder, "config.json"), "utf8"));
  const checkpoint = await openSafetensors(new Blob([await readFile(join(folder, "model.safetensors"))]));
  const weights = openWeights(checkpoint, (vocabSize) => describeModel(config, vocabSize));
  const { model, numParameters } = weights;
  const byName = new Map(weightsOf(model.graph).map((weight) => [weight.tensors[0]?.name, weight]));
  const read = async (name: string) => {
    const weight = byName.get(name);
    if (!weight) throw new Error(`${folder} has no ${name}.`);
    return readF32(weights.tensor(weight));
  };
  return { folder, config, model, numParameters, read };
}
