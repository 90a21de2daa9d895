// The golden values of fixtures/ for tests that run in Node.

import { readFileSync } from "node:fs";
import { openSafetensors } from "../files/safetensors.ts";
import { FAMILIES, describeModel } from "../models/families.ts";
import { openWeights, type ModelWeights } from "../models/model-weights.ts";

interface TensorRef {
  readonly off: number;
  readonly shape: readonly number[];
}

interface FixturePrompt {
  readonly name: string;
  readonly ids: readonly number[];
  readonly last_logits: TensorRef;
}

export interface Fixture {
  readonly weights: ModelWeights;
  readonly prompts: readonly FixturePrompt[];
  tensor(ref: TensorRef): Float32Array;
}

/** @param folder below fixtures/ */
export async function readFixture(folder: string, families = FAMILIES): Promise<Fixture> {
  const bytes = (name: string) => new Uint8Array(readFileSync(`fixtures/${folder}/${name}`));
  const json = (name: string): unknown => JSON.parse(new TextDecoder().decode(bytes(name)));
  const checkpoint = await openSafetensors(new Blob([bytes("model.safetensors")]));
  const floats = new Float32Array(bytes("golden.f32").buffer);
  return {
    ...(json("golden.json") as { prompts: readonly FixturePrompt[] }),
    weights: openWeights(checkpoint, (vocabSize) => describeModel(json("config.json"), vocabSize, families)),
    tensor: ({ off, shape }) => floats.subarray(off, off + shape.reduce((a, b) => a * b, 1)),
  };
}
