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
  readonly greedy: { readonly tokens: readonly number[] };
}

interface FixtureFile {
  readonly prompts: readonly FixturePrompt[];
  /** Of quantised weights, by scheme. */
  readonly quantisation?: {
    readonly schemes: Readonly<Record<string, { readonly prompts: readonly QuantisedPrompt[] }>>;
  };
}

interface QuantisedPrompt {
  /** Its name. */
  readonly prompt: string;
  readonly last_logits: TensorRef;
  readonly greedy_tokens: readonly number[];
}

export interface Fixture extends FixtureFile {
  readonly weights: ModelWeights;
  tensor(ref: TensorRef): Float32Array;
}

/** @param folder below fixtures/ */
export async function readFixture(folder: string, families = FAMILIES): Promise<Fixture> {
  const bytes = (name: string) => new Uint8Array(readFileSync(`fixtures/${folder}/${name}`));
  const json = (name: string): unknown => JSON.parse(new TextDecoder().decode(bytes(name)));
  const checkpoint = await openSafetensors(new Blob([bytes("model.safetensors")]));
  const floats = new Float32Array(bytes("golden.f32").buffer);
  return {
    ...(json("golden.json") as FixtureFile),
    weights: openWeights(checkpoint, (vocabSize) => describeModel(json("config.json"), vocabSize, families)),
    tensor: ({ off, shape }) => floats.subarray(off, off + shape.reduce((a, b) => a * b, 1)),
  };
}
