// Times a step by its rows and their context, with the kernels for software adapters and for GPUs.

import { it } from "vitest";

import { resolveEngineConfig } from "../../src/api/engine-config.ts";
import { Sequence } from "../../src/engine/sequence.ts";
import { placeSequence } from "../../tests/fakes/place-sequence.ts";
import { StepPlanner } from "../../src/engine/step-planner.ts";
import { printTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import { GREEDY } from "../../tests/models/golden.ts";
import { openTestDevice } from "../../tests/gpu/gpu.ts";
import { describeModel } from "../../src/models/families.ts";
import { randomWeights } from "../../tests/models/random-weights.ts";
import { GpuRunner } from "../../src/backends/gpu/gpu-runner.ts";

const opened = await openTestDevice();
const weights = randomWeights(
  describeModel({ model_type: "gpt2", n_layer: 4, n_embd: 256, n_head: 4, n_positions: 1024, vocab_size: 4096 }),
);
const engine = resolveEngineConfig({ dtype: "f16", maxNumSeqs: 16, maxNumBatchedTokens: 64 }, weights.model.shape);
const runners = {
  software: await GpuRunner.create({ opened: { ...opened, isSoftware: true }, weights, engine }),
  gpu: await GpuRunner.create({ opened: { ...opened, isSoftware: false }, weights, engine }),
};

const STEPS = [
  { sequences: 1, rows: 1, context: 16 },
  { sequences: 1, rows: 1, context: 1000 },
  { sequences: 8, rows: 1, context: 100 },
  { sequences: 8, rows: 1, context: 500 },
  { sequences: 1, rows: 64, context: 64 },
  { sequences: 1, rows: 64, context: 960 },
];

function scheduled({ sequences, rows, context }: (typeof STEPS)[number]) {
  return Array.from({ length: sequences }, (_, slot) => {
    const prompt = Array.from({ length: context }, (_unused, i) => (31 * i + slot) % 4096);
    const sequence = new Sequence({ requestId: `${slot}`, index: 0, params: GREEDY, prompt, arrivalMs: 0 });
    const blocks = Array.from({ length: Math.ceil(context / 16) }, (_unused, i) => 64 * slot + i);
    placeSequence(sequence, slot, blocks);
    return { sequence, start: context - rows, count: rows, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  });
}

it("step", async () => {
  const table = [];
  for (const shape of STEPS) {
    const plan = new StepPlanner().plan(scheduled(shape));
    const times = Object.values(runners).map((runner) => ({ runner, ms: [] as number[] }));
    for (let round = 0; round < 12; round++) {
      for (const { runner, ms } of times) {
        const startMs = performance.now();
        await runner.submit(plan);
        if (round > 0) ms.push(performance.now() - startMs);
      }
    }
    const [software = NaN, gpu = NaN] = times.map(({ ms }) => medianOf(ms));
    table.push([
      `${shape.sequences} x ${shape.rows}`,
      shape.context,
      software.toFixed(1),
      gpu.toFixed(1),
      (gpu / software).toFixed(2),
    ]);
  }
  printTable(
    "A step, 4 layers of 256, f16: median of 11, in one run",
    ["sequences x rows", "context", "software's kernels, ms", "GPUs' kernels, ms", "ratio"],
    table,
  );
});
