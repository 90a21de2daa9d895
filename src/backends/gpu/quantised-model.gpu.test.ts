import { describe, expect, it } from "vitest";

import { weightsOf, type Weight } from "../../models/graph.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { readF32, type Tensor } from "../../files/tensor.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import { createRunner, greedyTogether, lastLogits } from "../../../tests/gpu/runner-runs.ts";
import { differingWords, expectClose, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { int8Checkpoint } from "../../../tests/models/int8-checkpoint.ts";
import { tensorOf } from "../../../tests/references/tensors.ts";
import { weightsAsKept } from "../../../tests/references/weights-as-kept.ts";
import type { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const golden = await loadGolden("gpt2-mid");
const { vocabSize } = golden.weights.model.shape;
/** After each prompt. */
const NUM_TOKENS = 4;
/** With the first kernels: later ones have their bits (exactness.gpu.test.ts, kernels/matmul.gpu.test.ts). */
const open = (weights: ModelWeights, config: EngineConfig) =>
  createRunner(opened, weights, config, { isComplete: false });
const logitsOf = (runner: Parameters<typeof lastLogits>[1], ids: readonly number[]) =>
  lastLogits(opened, runner, ids, vocabSize);

/** Returns the shorter golden prompts with the results of a quantisation scheme. All of them are in golden.gpu.test.ts. */
function promptsOf(scheme: string) {
  const quantised = golden.quantisation?.schemes[scheme]?.prompts ?? [];
  expect(quantised.map(({ prompt }) => prompt)).toEqual(golden.prompts.map(({ name }) => name));
  const prompts = golden.prompts.map(({ name, ids, last_logits }, i) => ({
    ...quantised[i],
    name,
    ids,
    exact: last_logits,
  }));
  return prompts.filter(({ ids }) => ids.length < 100);
}

/** The logits after each prompt, all at once, and the tokens that follow it. */
async function answer(runner: GpuRunner, prompts: ReturnType<typeof promptsOf>) {
  const ids = prompts.map((prompt) => prompt.ids);
  return greedyTogether(opened, runner, ids, { numTokens: NUM_TOKENS, numGpuBlocks: 64, vocabSize });
}

const expectedTokens = (prompts: ReturnType<typeof promptsOf>) =>
  prompts.map(({ greedy_tokens: tokens = [] }) => {
    expect(tokens.length).toBeGreaterThanOrEqual(NUM_TOKENS);
    return tokens.slice(0, NUM_TOKENS);
  });

// The largest logits are 14. In integers activations are rounded, which Hugging Face's code does not do.
it.each([
  ["f32", 5e-4],
  ["int8", 0.25],
] as const)(
  "gpt2-mid in q4, activations in %s, has Hugging Face's logits and greedy tokens",
  async (activationDtype, tolerance) => {
    const runner = await open(golden.weights, { dtype: "q4", activationDtype, maxNumBatchedTokens: 512 });
    const prompts = promptsOf("int4-g32-q40+wte");
    const { logits, tokens } = await answer(runner, prompts);
    for (const [i, { last_logits: expected }] of prompts.entries()) {
      if (!expected) throw new Error("no logits in the fixture");
      expectClose(logits[i] ?? [], golden.tensor(expected), tolerance);
    }
    expect(tokens).toEqual(expectedTokens(prompts));
    runner.dispose();
  },
);

describe("gpt2-mid in q8", async () => {
  const runner = await open(golden.weights, { dtype: "q8", maxNumBatchedTokens: 512 });
  // Hugging Face's reference has one scale per column. Ours has one per group of a column, so it must be nearer.
  const prompts = promptsOf("int8-channel+wte");

  it("is nearer to the exact logits than one scale per column, and has its greedy tokens", async () => {
    const { logits, tokens } = await answer(runner, prompts);
    for (const [i, { exact: name, rel_rmse: limit = 0 }] of prompts.entries()) {
      const exact = golden.tensor(name);
      const mean = exact.reduce((a, b) => a + b, 0) / exact.length;
      const variance = exact.reduce((sum, value) => sum + (value - mean) ** 2, 0);
      const error = exact.reduce((sum, value, at) => sum + (value - (logits[i]?.[at] ?? NaN)) ** 2, 0);
      expect(Math.sqrt(error / variance)).toBeLessThan(limit);
    }
    expect(tokens).toEqual(expectedTokens(prompts));
  });

  it("has the same bits if its file is already int8", async () => {
    const fromInt8 = await open(await int8Checkpoint(golden.weights), { dtype: "q8" });
    for (const { ids } of prompts.slice(0, 2)) {
      const [ours, theirs] = [await logitsOf(fromInt8, ids), await logitsOf(runner, ids)];
      expect(differingWords(ours.slice().buffer, theirs.slice().buffer)).toBe(0);
    }
  });

  // q4 is held to Hugging Face's logits of the same quantisation.
  it("computes the same as f32 with the quantised weights", async () => {
    const ofKept = await open(await keptWeights(golden.weights, "q8"), {});
    for (const { ids } of prompts.slice(0, 2))
      expectClose(await logitsOf(runner, ids), await logitsOf(ofKept, ids), 1e-4);
  });
});

async function keptWeights(weights: ModelWeights, dtype: "q8"): Promise<ModelWeights> {
  const kept = new Map<Weight, Tensor>();
  for (const weight of weightsOf(weights.model.graph)) {
    const tensor = weights.tensor(weight);
    const { rows, columns } = tensor;
    const groupsAlong = "layout" in weight && weight.layout === "out-in" ? "rows" : "columns";
    const values = "layout" in weight && weightsAsKept(await readF32(tensor), rows, columns, dtype, { groupsAlong });
    kept.set(weight, values ? tensorOf(values, rows, columns) : tensor);
  }
  return { ...weights, tensor: (weight) => kept.get(weight) ?? weights.tensor(weight) };
}
