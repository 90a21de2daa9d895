// Prompts are computed row by row until attention for tiles is compiled, and nobody can tell by the bits.

import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import { differingWords, openTestDevice, readBuffer } from "../../../tests/gpu/gpu.ts";
import { dispatchesOf, prepareGraph, runDispatches } from "../../../tests/gpu/prepared-graph.ts";
import { placedSequence } from "../../../tests/gpu/runner-runs.ts";
import { loadGolden } from "../../../tests/models/golden.ts";

const opened = await openTestDevice();
const { hasSubgroups } = opened;
/** Enough for tiles on GPUs. */
const ROWS = 70;

const CASES = [
  { style: "plain", hasSubgroups, fixture: "gpt2-tiny" },
  // Layers with windows and layers without: two kernels for tiles.
  { style: "plain", hasSubgroups, fixture: "gemma3-tiny" },
  { style: "plain", hasSubgroups: false, fixture: "gpt2-tiny" },
  { style: "fused", hasSubgroups, fixture: "gpt2-tiny" },
] as const;

it.each(CASES)(
  "a prompt is the same before and after (style: $style, subgroups: $hasSubgroups, $fixture)",
  async ({ fixture, ...adapter }) => {
    const { weights } = await loadGolden(fixture);
    const { shape } = weights.model;
    const sizes = { maxNumSeqs: 1, maxNumBatchedTokens: ROWS, numGpuBlocks: 64 };
    const engine = resolveEngineConfig({ ...sizes, dtype: "f16", kvCacheDtype: "f16" }, shape);
    const prepared = await prepareGraph(opened, weights, engine, { adapter, isComplete: false });
    const { compiled, context, activations, step, arena } = prepared;
    const prompt = Array.from({ length: ROWS }, (_, i) => (i * 29 + 7) % shape.vocabSize);
    const compute = async () => {
      const share = { start: 0, count: ROWS, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
      const sequence = placedSequence(prompt, 0, ROWS);
      const size = step.write(opened.device.queue, new StepPlanner().plan([{ sequence, ...share }]));
      const dispatches = dispatchesOf(compiled, size);
      runDispatches(opened, dispatches, size);
      const logits = (await readBuffer(opened.device, activations.logits)).slice(0, 4 * shape.vocabSize);
      return { logits, numTiled: dispatches.filter(({ name }) => name.endsWith("in tiles")).length };
    };
    const before = await compute();
    expect(await context.later.start()).toEqual([]);
    const after = await compute();
    expect([before.numTiled, after.numTiled]).toEqual([0, shape.numLayers]);
    expect(new Float32Array(before.logits).every((value) => Number.isFinite(value) && value !== 0)).toBe(true);
    expect(differingWords(before.logits, after.logits)).toBe(0);
    arena.destroy();
  },
);
