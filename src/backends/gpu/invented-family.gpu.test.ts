import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { StepPlanner } from "../../engine/core/step-planner.ts";
import { describeModel, FAMILIES } from "../../models/families.ts";
import { logitsReference } from "../../testing/graph-reference.ts";
import { expectClose, openTestDevice, readBuffer } from "../../testing/gpu.ts";
import { inventedFamily } from "../../testing/invented-family.ts";
import { prepareGraph, runDispatches } from "../../testing/prepared-graph.ts";
import { randomWeights } from "../../testing/random-weights.ts";
import { createRunner, greedyTokens, lastLogits, placedSequence } from "../../testing/runner-runs.ts";
import { matmulChoices } from "./matmul-variants.ts";

const opened = await openTestDevice();
const weights = randomWeights(describeModel({ model_type: "invented" }, undefined, [...FAMILIES, inventedFamily]));
const { shape } = weights.model;
const prompt = Array.from({ length: 37 }, (_, i) => (i * 29 + 7) % shape.vocabSize);

it.each([opened.hasSubgroups, false])("has the float64 logits on a software adapter (subgroups: %s)", async (has) => {
  const runner = await createRunner({ ...opened, isSoftware: true, hasSubgroups: has }, weights);
  // Compute the text step by step through the cache, and then as one prompt.
  const drawn = await greedyTokens(runner, prompt, 8);
  const text = [...prompt, ...drawn.slice(0, -1)];
  const whole = await lastLogits(opened, runner, text, shape.vocabSize);
  expectClose(whole, (await logitsReference(weights, text)).at(-1) ?? [], 2e-4);
  expect(whole.indexOf(Math.max(...whole))).toBe(drawn.at(-1));
  runner.dispose();
});

it("has the float64 logits with the kernels of GPUs", async () => {
  const adapter = { isSoftware: false, hasSubgroups: false };
  const config = { maxNumSeqs: 1, maxNumBatchedTokens: 64, numGpuBlocks: 64 };
  const engine = resolveEngineConfig({ ...config, dtype: "f32", kvCacheDtype: "f32" }, shape);
  // One kernel for products of any size: the kernels for GPUs compile slowly here.
  const matmuls = matmulChoices(adapter)
    .slice(-1)
    .map(([usual]) => usual);
  const { compiled, activations, step, arena } = await prepareGraph(opened, weights, engine, { adapter, matmuls });
  const sequence = placedSequence(prompt, 0, prompt.length);
  const share = { start: 0, count: prompt.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  const size = step.write(opened.device.queue, new StepPlanner().plan([{ sequence, ...share }]));
  runDispatches(opened, compiled.dispatches(size), size);
  const logits = new Float32Array(await readBuffer(opened.device, activations.logits)).subarray(0, shape.vocabSize);
  expectClose(logits, (await logitsReference(weights, prompt)).at(-1) ?? [], 2e-4);
  arena.destroy();
});
