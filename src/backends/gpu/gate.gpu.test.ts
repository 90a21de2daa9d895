// A gate's two products are one dispatch. Its matrix is split where it is larger than can be bound at once.

import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import { describeModel, FAMILIES } from "../../models/families.ts";
import { differingWords, expectClose, openTestDevice, readBuffer } from "../../../tests/gpu/gpu.ts";
import { dispatchesOf, prepareGraph, runDispatches } from "../../../tests/gpu/prepared-graph.ts";
import { placedSequence } from "../../../tests/gpu/runner-runs.ts";
import { inventedFamily } from "../../../tests/models/invented-family.ts";
import { randomWeights } from "../../../tests/models/random-weights.ts";
import { lastLogitsReference } from "../../../tests/references/graph-reference.ts";
import type { KernelTraits } from "./kernel-style.ts";
import { NO_TILES } from "./query-tiles.ts";

const opened = await openTestDevice();
const { hasSubgroups } = opened;
const weights = randomWeights(describeModel({ model_type: "invented" }, undefined, [...FAMILIES, inventedFamily]));
const { shape } = weights.model;
const prompt = Array.from({ length: 9 }, (_, i) => (i * 29 + 7) % shape.vocabSize);

async function run(adapter: KernelTraits, dtype: "f32" | "q4", maxBindingBytes: number) {
  const sizes = { maxNumSeqs: 1, maxNumBatchedTokens: prompt.length, numGpuBlocks: 64 };
  const engine = resolveEngineConfig({ ...sizes, dtype, kvCacheDtype: "f32" }, shape);
  const { compiled, activations, step, arena } = await prepareGraph(opened, weights, engine, {
    adapter,
    maxBindingBytes,
    // No kernel of attention over tiles, which takes long to compile and has tests of its own; and of products the first.
    tiles: NO_TILES,
    isComplete: false,
  });
  const share = { start: 0, count: prompt.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  const plan = new StepPlanner().plan([{ sequence: placedSequence(prompt, 0, prompt.length), ...share }]);
  const size = step.write(opened.device.queue, plan);
  const dispatches = dispatchesOf(compiled, size);
  runDispatches(opened, dispatches, size);
  const logits = (await readBuffer(opened.device, activations.logits)).slice(0, 4 * shape.vocabSize);
  arena.destroy();
  return { logits, names: dispatches.map(({ name }) => name) };
}

const ofLayer = (names: readonly string[]) => names.filter((name) => name.startsWith("layer 0 "));

it.each([
  // A norm of its own, and before attention by quads a write to the cache.
  { style: "plain", hasSubgroups, inLayer: 8, dtypes: ["f32", "q4"] },
  { style: "plain", hasSubgroups: false, inLayer: 7, dtypes: ["f32"] },
  { style: "fused", hasSubgroups, inLayer: 6, dtypes: ["f32"] },
] as const)(
  "is one dispatch, or one for each part, with the same bits (style: $style, subgroups: $hasSubgroups)",
  async ({ inLayer, dtypes, ...adapter }) => {
    for (const dtype of dtypes) {
      const whole = await run(adapter, dtype, 2 ** 27);
      expect(ofLayer(whole.names)).toHaveLength(inLayer);
      expect(whole.names.filter((name) => name === "layer 0 gate")).toHaveLength(1);
      if (dtype === "f32") {
        expectClose(new Float32Array(whole.logits), await lastLogitsReference(weights, prompt), 2e-4);
      }
      // Two parts: of 128 columns, and of the other 16.
      const split = await run(adapter, dtype, 1);
      expect(split.names.filter((name) => name === "layer 0 gate")).toHaveLength(2);
      expect(differingWords(split.logits, whole.logits)).toBe(0);
    }
  },
);
