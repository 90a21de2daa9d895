// The golden values of tests/fixtures/ for tests that run in Node.

import { readFileSync } from "node:fs";
import { openSafetensors } from "../../src/files/safetensors.ts";
import { FAMILIES, describeModel } from "../../src/models/families.ts";
import { openWeights, type ModelWeights } from "../../src/models/model-weights.ts";

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

interface FixtureRope {
  readonly inv_freq: TensorRef;
  readonly attention_scaling: number;
}

/** The same weights under a config that differs. */
interface FixtureVariant {
  readonly name: string;
  readonly config_overrides: Readonly<Record<string, unknown>>;
  readonly prompts: readonly FixturePrompt[];
  readonly rope?: FixtureRope;
}

interface QuantisedPrompt {
  /** Its name. */
  readonly prompt: string;
  readonly last_logits: TensorRef;
  readonly greedy_tokens: readonly number[];
}

interface Fixture {
  /** Quantised weights, by scheme. */
  readonly quantisation?: {
    readonly schemes: Readonly<Record<string, { readonly prompts: readonly QuantisedPrompt[] }>>;
  };
  readonly config: Readonly<Record<string, unknown>>;
  readonly prompts: readonly FixturePrompt[];
  readonly variants: readonly FixtureVariant[];
  readonly rope?: FixtureRope;
  /** The weights under the fixture's config, or a variant's. */
  readonly weights: (overrides?: FixtureVariant["config_overrides"]) => ModelWeights;
  readonly tensor: (ref: TensorRef) => Float32Array;
}

/** @param folder below tests/fixtures/ */
export async function readFixture(folder: string, families = FAMILIES): Promise<Fixture> {
  const bytes = (name: string) => new Uint8Array(readFileSync(`tests/fixtures/${folder}/${name}`));
  const json = (name: string): unknown => JSON.parse(new TextDecoder().decode(bytes(name)));
  const checkpoint = await openSafetensors(new Blob([bytes("model.safetensors")]));
  const floats = new Float32Array(bytes("golden.f32").buffer);
  const config = json("config.json") as Fixture["config"];
  const golden = json("golden.json") as Pick<Fixture, "prompts" | "rope" | "quantisation"> &
    Partial<Pick<Fixture, "variants">>;
  return {
    ...golden,
    variants: golden.variants ?? [],
    config,
    weights: (overrides) =>
      openWeights(checkpoint, (vocabSize) => describeModel({ ...config, ...overrides }, vocabSize, families)),
    tensor: ({ off, shape }) => floats.subarray(off, off + shape.reduce((a, b) => a * b, 1)),
  };
}
