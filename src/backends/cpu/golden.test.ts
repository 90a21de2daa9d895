// The results of Hugging Face's PyTorch code, and of float64 where nobody has published a model.

import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import { describeModel, FAMILIES } from "../../models/families.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { openBundledHelper } from "../../../tests/cpu/bundled-helper.ts";
import { allowRelaxedSimd, bitsOf, expectNear } from "../../../tests/cpu/cpu.ts";
import { DECODER_FIXTURES, openDecoderFixture, worstLogprob } from "../../../tests/models/decoder-fixtures.ts";
import { FAMILY_FIXTURES } from "../../../tests/models/family-fixtures.ts";
import { readFixture } from "../../../tests/models/fixtures.ts";
import { ODD_SHAPES } from "../../../tests/models/odd-shapes.ts";
import { lastLogitsReference } from "../../../tests/references/graph-reference.ts";
import { inventedFamily } from "../../../tests/models/invented-family.ts";
import { randomWeights } from "../../../tests/models/random-weights.ts";
import { greedyTokens, placedSequence, withState } from "../../../tests/gpu/runner-runs.ts";
import { cpuBackend } from "./cpu-backend.ts";
import type { CpuRunner } from "./cpu-runner.ts";

allowRelaxedSimd();

const F32 = { maxNumSeqs: 4, numGpuBlocks: 64, dtype: "f32", kvCacheDtype: "f32" } as const;

async function openRunner(weights: ModelWeights, overrides: EngineConfig = {}): Promise<CpuRunner> {
  const engine = resolveEngineConfig({ ...F32, ...overrides }, weights.model.shape);
  const backend = await cpuBackend({ most: 1, openHelper: null }).open();
  return (await backend.load({ weights, engine })) as CpuRunner;
}

async function lastLogits(runner: CpuRunner, ids: readonly number[]): Promise<Float32Array> {
  const sequence = placedSequence(ids, 0, ids.length);
  const entry = { sequence, start: 0, count: ids.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  await runner.submit(new StepPlanner().plan([withState(entry)]));
  return runner.logits[0]?.slice() ?? new Float32Array();
}

const GOLDEN = [
  ...FAMILY_FIXTURES.map((name) => [name, { dtype: "f32", cpuMath: "portable" }, 2e-4] as const),
  ["gpt2-tiny", { dtype: "f32", cpuMath: "fastest" }, 2e-4],
  ["gpt2-mid", { dtype: "f32" }, 2e-4],
  ["gpt2-mid", { dtype: "f16" }, 5e-4],
] as const;

it.each(GOLDEN)("has Hugging Face's logits and greedy tokens: %s %j", async (name, config, tolerance) => {
  const fixture = await readFixture(name);
  const runner = await openRunner(fixture.weights(), config);
  for (const { ids, last_logits: expected, greedy } of fixture.prompts) {
    expectNear(await lastLogits(runner, ids), fixture.tensor(expected), tolerance);
    expect(await greedyTokens(runner, ids, greedy.tokens.length)).toEqual(greedy.tokens);
  }
  runner.dispose();
});

const readBytes = async (path: string) => new Uint8Array(await readFile(`tests/fixtures/${path}`));

it.each(DECODER_FIXTURES)(
  "has the golden log-probabilities and greedy tokens, from safetensors and from GGUF: %s",
  async (name) => {
    const { weights, gguf, cases, short_context_case: short } = await openDecoderFixture(name, readBytes);
    const middling = cases.filter(({ ids }) => ids.length === 33 || ids.length === 70);
    const runs = [
      { form: weights, cases, config: {} },
      { form: await gguf(), cases: middling, config: {} },
      { form: short ? weights : null, cases: short ? [short] : [], config: { maxModelLen: 64 } },
    ];
    for (const { form, config, cases: own } of runs) {
      if (!form) continue;
      const runner = await openRunner(form, { cpuMath: "portable", ...config });
      for (const golden of own) {
        expect(worstLogprob(await lastLogits(runner, golden.ids), golden)).toBeLessThan(1e-3);
        expect(await greedyTokens(runner, golden.ids, golden.greedy.length)).toEqual(golden.greedy);
      }
      runner.dispose();
    }
  },
);

// Hugging Face's int8 has a scale a column; ours, a scale a group of it, is nearer to the exact logits.
it.each([
  ["q4", "f32", "int4-g32-q40+wte", 5e-4],
  ["q8", "f32", "int8-channel+wte", Infinity],
  ["q4", "int8", "int4-g32-q40+wte", 0.2],
  ["q8", "int8", "int8-channel+wte", Infinity],
] as const)(
  "has Hugging Face's logits and greedy tokens of quantised weights: %s, activations in %s",
  async (dtype, activationDtype, scheme, tolerance) => {
    const fixture = await readFixture("gpt2-mid");
    const quantised = fixture.quantisation?.schemes[scheme]?.prompts ?? [];
    const runner = await openRunner(fixture.weights(), { dtype, activationDtype });
    expect(quantised.map(({ prompt }) => prompt)).toEqual(fixture.prompts.map(({ name }) => name));
    for (const [i, { last_logits: expected, greedy_tokens: tokens }] of quantised.entries()) {
      const ids = fixture.prompts[i]?.ids ?? [];
      expectNear(await lastLogits(runner, ids), fixture.tensor(expected), tolerance);
      expect(await greedyTokens(runner, ids, tokens.length)).toEqual(tokens);
    }
    runner.dispose();
  },
);

async function openFixture(name: "gpt2-tiny" | "qwen3-tiny" | "qwen35") {
  if (name === "qwen35") {
    const { weights, cases } = await openDecoderFixture(name, readBytes);
    return { weights, prompts: cases.map(({ ids }) => ids) };
  }
  const fixture = await readFixture(name);
  return { weights: fixture.weights(), prompts: fixture.prompts.map(({ ids }) => ids) };
}

it.each([
  ["portable", "gpt2-tiny"],
  ["fastest", "gpt2-tiny"],
  ["fastest", "qwen3-tiny"],
  ["fastest", "qwen35"],
] as const)("has the same bits on one thread and on two: %s, %s", async (cpuMath, name) => {
  const { weights, prompts } = await openFixture(name);
  const config = { ...F32, cpuMath, cpuThreads: 2 } as const;
  const engine = resolveEngineConfig(config, weights.model.shape);
  const backend = await cpuBackend({ most: 2, openHelper: openBundledHelper }).open();
  const two = (await backend.load({ weights, engine })) as CpuRunner;
  expect(two.adapterName).toBe("CPU, 2 threads");
  const one = await openRunner(weights, { cpuMath });
  for (const ids of prompts.slice(0, 4)) {
    expect(bitsOf(await lastLogits(two, ids))).toEqual(bitsOf(await lastLogits(one, ids)));
    expect(await greedyTokens(two, ids, 4)).toEqual(await greedyTokens(one, ids, 4));
  }
  one.dispose();
  two.dispose();
});

const INVENTED = { model_type: "invented" };

it.each(Object.entries({ "a family that nobody published": INVENTED, ...ODD_SHAPES }))(
  "has the float64 logits of a model of odd sizes: %s",
  async (_, config) => {
    const weights = randomWeights(describeModel(config, undefined, [...FAMILIES, inventedFamily]));
    const { vocabSize } = weights.model.shape;
    const prompt = Array.from({ length: 37 }, (_unused, i) => (i * 29 + 7) % vocabSize);
    const runner = await openRunner(weights);
    // Step by step through the cache, and then the same text as one prompt.
    const drawn = await greedyTokens(runner, prompt, 8);
    const text = [...prompt, ...drawn.slice(0, -1)];
    const whole = await lastLogits(runner, text);
    expectNear(whole, await lastLogitsReference(weights, text), 2e-4);
    expect(whole.indexOf(Math.max(...whole))).toBe(drawn.at(-1));
    runner.dispose();
  },
);
