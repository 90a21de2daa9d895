import { describe, expect, it } from "vitest";

import { weightsOf, type Weight } from "../../models/graph.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { readF32, type Tensor } from "../../files/tensor.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
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
const logitsOf = (runner: Parameters<typeof lastLogits>[1], ids: readonly number[]) =>
  lastLogits(opened, runner, ids, vocabSize);

/** Returns the golden prompts with the results of a quantisation scheme. */
function promptsOf(scheme: string) {
  const quantised = golden.quantisation?.schemes[scheme]?.prompts ?? [];
  expect(quantised.map(({ prompt }) => prompt)).toEqual(golden.prompts.map(({ name }) => name));
  return golden.prompts.map(({ name, ids, last_logits }, i) => ({ ...quantised[i], name, ids, exact: last_logits }));
}

async function expectGreedyTokens(runner: GpuRunner, prompts: ReturnType<typeof promptsOf>): Promise<void> {
  const expected = prompts.map(({ greedy_tokens: tokens = [] }) => tokens);
  const ids = prompts.map((prompt) => prompt.ids);
  const numTokens = Math.max(...expected.map(({ length }) => length));
  expect(numTokens).toBeGreaterThan(0);
  const { tokens } = await greedyTogether(opened, runner, ids, { numTokens, numGpuBlocks: 64, vocabSize });
  expect(tokens.map((own, i) => own.slice(0, expected[i]?.length))).toEqual(expected);
}

describe("gpt2-mid in q4", async () => {
  const runner = await createRunner(opened, golden.weights, { dtype: "q4", maxNumBatchedTokens: 512 });
  const prompts = promptsOf("int4-g32-q40+wte");

  it.each(prompts)("has Hugging Face's logits of the same quantisation after $name", async ({ ids, last_logits }) => {
    if (!last_logits) throw new Error("no logits in the fixture");
    expectClose(await logitsOf(runner, ids), golden.tensor(last_logits), 5e-4);
  });

  it("has its greedy tokens after all prompts at once", async () => {
    await expectGreedyTokens(runner, prompts);
  });
});

describe("gpt2-mid in q8", async () => {
  const runner = await createRunner(opened, golden.weights, { dtype: "q8", maxNumBatchedTokens: 512 });
  // Hugging Face's reference has one scale per column. Ours has one per group of a column, so it must be nearer.
  const prompts = promptsOf("int8-channel+wte");

  it.each(prompts)("is nearer to the exact logits than one scale per column after $name", async (prompt) => {
    const exact = golden.tensor(prompt.exact);
    const actual = await logitsOf(runner, prompt.ids);
    const mean = exact.reduce((a, b) => a + b, 0) / exact.length;
    const variance = exact.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    const error = exact.reduce((sum, value, i) => sum + (value - (actual[i] ?? NaN)) ** 2, 0);
    expect(Math.sqrt(error / variance)).toBeLessThan(prompt.rel_rmse ?? 0);
  });

  it("has its greedy tokens after all prompts at once", async () => {
    await expectGreedyTokens(runner, prompts);
  });

  it("has the same bits if its file is already int8", async () => {
    const fromInt8 = await createRunner(opened, await int8Checkpoint(golden.weights), { dtype: "q8" });
    for (const { ids } of prompts.slice(0, 3)) {
      const [ours, theirs] = [await logitsOf(fromInt8, ids), await logitsOf(runner, ids)];
      expect(differingWords(ours.slice().buffer, theirs.slice().buffer)).toBe(0);
    }
  });
});

it.each(["q8", "q4"] as const)("%s computes the same as f32 with the quantised weights", async (dtype) => {
  const [ours, theirs] = [
    await createRunner(opened, golden.weights, { dtype }),
    await createRunner(opened, await keptWeights(golden.weights, dtype)),
  ];
  for (const { ids } of golden.prompts.slice(0, 3))
    expectClose(await logitsOf(ours, ids), await logitsOf(theirs, ids), 1e-4);
});

async function keptWeights(weights: ModelWeights, dtype: WeightsDtype): Promise<ModelWeights> {
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
