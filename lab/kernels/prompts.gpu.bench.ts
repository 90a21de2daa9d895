// Times attention over prompts, by rows and in tiles of rows, and the layer around it, of GPT-2 124M's shape, with the
// kernels for software adapters and for GPUs; beside the products the most that the adapter multiplies and adds.

import { it } from "vitest";

import { prepareRoofline } from "./roofline.ts";
import { resolveEngineConfig } from "../../src/api/engine-config.ts";
import { StepPlanner } from "../../src/engine/step-planner.ts";
import { Sequence } from "../../src/engine/sequence.ts";
import { describeModel } from "../../src/models/families.ts";
import { printTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import { placeSequence } from "../../tests/fakes/place-sequence.ts";
import { openTestDevice } from "../../tests/gpu/gpu.ts";
import { prepareGraph, runDispatches } from "../../tests/gpu/prepared-graph.ts";
import { GREEDY } from "../../tests/models/golden.ts";
import { randomWeights } from "../../tests/models/random-weights.ts";
import type { StepPlan } from "../../src/engine/step-plan.ts";
import type { Dispatch } from "../../src/backends/gpu/kernel.ts";
import { NO_TILES, tileChoices } from "../../src/backends/gpu/query-tiles.ts";
import type { StepShape } from "../../src/backends/gpu/step-buffer.ts";

const opened = await openTestDevice();
const { device } = opened;
const PROMPTS = [32, 128, 512, 1024];
const ROUNDS = 3;
/** From here on products are run once: they take long, and are the same in both. */
const LONG = 512;
const weights = randomWeights(
  describeModel({ model_type: "gpt2", n_layer: 1, n_embd: 768, n_head: 12, n_positions: 1024, vocab_size: 256 }),
);
const engine = resolveEngineConfig({ dtype: "f16", maxNumSeqs: 1, maxNumBatchedTokens: 1024 }, weights.model.shape);

async function runMs(dispatches: readonly Dispatch[], shape: StepShape, repeats: number): Promise<number> {
  const startMs = performance.now();
  runDispatches(opened, Array.from({ length: repeats }, () => dispatches).flat(), shape);
  await device.queue.onSubmittedWorkDone();
  return (performance.now() - startMs) / repeats;
}

/** Returns the most multiply-adds a second, in 10^9 operations, with nothing to load. */
async function mostGflops(): Promise<number> {
  const { multiply, multiplyFlops, destroy } = await prepareRoofline(device, opened.isSoftware);
  const dispatch = { ...multiply, name: "multiply", workgroups: () => multiply.workgroups };
  const ms: number[] = [];
  for (let round = 0; round < 5; round++) ms.push(await runMs([dispatch], NO_ROWS, 16));
  destroy();
  return multiplyFlops / medianOf(ms) / 1e6;
}

/** Multiply-adds of a row's products: 12 matrices of 768 x 768. */
const FLOPS_A_ROW = 2 * 12 * 768 ** 2;
const NO_ROWS: StepShape = {
  rows: 0,
  samples: 0,
  tiles: 0,
  singles: 0,
  longest: 0,
  anyRules: false,
  anyPlain: false,
  anyOther: false,
  maxTop: 0,
};

const ADAPTERS = [
  ["software adapters", { isSoftware: true, hasSubgroups: opened.hasSubgroups }],
  ["software adapters, without subgroups", { isSoftware: true, hasSubgroups: false }],
  ["GPUs", { isSoftware: false, hasSubgroups: opened.hasSubgroups }],
] as const;

it.each(ADAPTERS)("prompts, with the kernels for %s", async (kernels, adapter) => {
  const [tiles] = tileChoices(adapter, weights.model.shape);
  const kinds = await Promise.all(
    [NO_TILES, tiles].map((one) => prepareGraph(opened, weights, engine, { adapter, tiles: one })),
  );
  const table = [];
  const most = await mostGflops();
  for (const count of PROMPTS) {
    const steps = kinds.map(({ compiled, step }) => {
      const shape = step.write(device.queue, planOf(count));
      return { shape, all: [...compiled.dispatches(shape)] };
    });
    const works = steps.map(({ shape, all }) => {
      return { shape, dispatches: all.filter(({ name }) => name.includes("attention")), ms: [] as number[] };
    });
    // All but attention is the same in both.
    const rest = (steps[0]?.all ?? []).filter(({ name }) => !name.includes("attention"));
    const restMs: number[] = [];
    const repeats = count < LONG ? 4 : 1;
    for (let round = 0; round < ROUNDS; round++) {
      for (const { dispatches, shape, ms } of works) ms.push(await runMs(dispatches, shape, repeats));
      if (count < LONG || round === 0) restMs.push(await runMs(rest, works[0]?.shape ?? NO_ROWS, 1));
    }
    const [rowsMs = NaN, tilesMs = NaN] = works.map(({ ms }) => medianOf(ms));
    const [before, after] = [rowsMs + medianOf(restMs), tilesMs + medianOf(restMs)];
    // With norms and what else is no attention, which take little.
    const gflops = (count * FLOPS_A_ROW) / medianOf(restMs) / 1e6;
    table.push([
      count,
      rowsMs.toFixed(1),
      tilesMs.toFixed(1),
      (tilesMs / rowsMs).toFixed(2),
      before.toFixed(0),
      `${Math.round((100 * rowsMs) / before)}%`,
      (after / before).toFixed(2),
      gflops.toFixed(1),
      `${Math.round((100 * gflops) / most)}%`,
    ]);
  }
  for (const { arena } of kinds) arena.destroy();
  const title = `At most ${most.toFixed(1)} GFLOP/s. A layer of GPT-2 124M's shape, f16, with the kernels for ${kernels}, ${tiles.name}`;
  printTable(
    `${title}: median of ${ROUNDS}, in one run`,
    [
      "prompt",
      "attention by rows, ms",
      "in tiles, ms",
      "ratio",
      "layer by rows, ms",
      "attention's share",
      "layer's ratio",
    ],
    table,
  );
});

function planOf(count: number): StepPlan {
  const prompt = Array.from({ length: count }, (_, i) => (31 * i) % 256);
  const sequence = new Sequence({ requestId: "0", index: 0, params: GREEDY, prompt, arrivalMs: 0 });
  const blocks = Array.from({ length: Math.ceil(count / 16) }, (_, i) => i);
  placeSequence(sequence, 0, blocks);
  return new StepPlanner().plan([{ sequence, start: 0, count, samples: true, drafts: [], scored: 0, cachedTokens: 0 }]);
}
