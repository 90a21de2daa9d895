// Long contexts with the kernels for GPUs.

import { expect, it } from "vitest";
import { resolveEngineConfig } from "../../api/engine-config.ts";
import { Sequence, type ScheduledSequence } from "../../engine/sequence.ts";
import { weightsOf, type Weight } from "../../models/graph.ts";
import { describeModel } from "../../models/families.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import type { Tensor } from "../../files/tensor.ts";
import { placeSequence } from "../../../tests/fakes/place-sequence.ts";
import { dispatchesOf, prepareGraph, runDispatches, type PreparedGraph } from "../../../tests/gpu/prepared-graph.ts";
import { NO_TILES } from "./query-tiles.ts";
import { GREEDY, loadGolden } from "../../../tests/models/golden.ts";
import { differingWords, openTestDevice, readBuffer } from "../../../tests/gpu/gpu.ts";

const opened = await openTestDevice();
// Tiles, which compile slowly, have the bits of their rows one by one: kernels/attention-tiles.gpu.test.ts.
const ON_GPU = { adapter: { style: "fused", hasSubgroups: false }, tiles: NO_TILES } as const;
const LENGTH = 528;
const BLOCKS = LENGTH / 16;

it("gives a token the same bits when its context is read in splits as when its whole prompt is computed", async () => {
  const weights = await withPositions((await loadGolden("gpt2-tiny")).weights, LENGTH);
  const config = { maxNumSeqs: 2, maxNumBatchedTokens: LENGTH, numGpuBlocks: 2 * BLOCKS };
  const engine = resolveEngineConfig(config, weights.model.shape);
  const prepared = await prepareGraph(opened, weights, engine, ON_GPU);
  const tokens = Array.from({ length: LENGTH }, (_, i) => (37 * i + 11) % weights.model.shape.vocabSize);

  const [long, short] = [sequenceAt(0, tokens), sequenceAt(1, tokens.slice(0, 5))];
  const whole = await compute(prepared, [rowsOf(long, 0, LENGTH)]);
  const last = await compute(prepared, [rowsOf(long, LENGTH - 3, LENGTH), rowsOf(short, 0, 5)]);
  expect([whole.splits, last.splits]).toEqual([0, weights.model.shape.numLayers]);
  const bytes = 4 * weights.model.shape.vocabSize;
  expect(differingWords(last.logits.slice(0, bytes), whole.logits.slice(0, bytes))).toBe(0);
  prepared.arena.destroy();
});

it("reads a long context in splits also where a step has few rows", async () => {
  const weights = await withPositions((await loadGolden("gpt2-tiny")).weights, LENGTH);
  const tokens = Array.from({ length: LENGTH }, (_, i) => (37 * i + 11) % weights.model.shape.vocabSize);
  const long = sequenceAt(0, tokens);
  for (const maxNumBatchedTokens of [1, 8]) {
    const config = { maxNumSeqs: 1, maxNumBatchedTokens, numGpuBlocks: 2 * BLOCKS };
    const engine = resolveEngineConfig(config, weights.model.shape);
    const prepared = await prepareGraph(opened, weights, engine, ON_GPU);
    expect((await compute(prepared, [rowsOf(long, LENGTH - 1, LENGTH)])).splits).toBe(weights.model.shape.numLayers);
    prepared.arena.destroy();
  }
});

/** Returns the weights with `n_positions` positions, repeating the existing ones. */
async function withPositions(weights: ModelWeights, n_positions: number): Promise<ModelWeights> {
  const config = (await (await fetch("/tests/fixtures/gpt2-tiny/config.json")).json()) as object;
  const byName = new Map(weightsOf(weights.model.graph).map((weight) => [weight.tensors[0]?.name, weight]));
  const same = (weight: Weight): Weight => byName.get(weight.tensors[0]?.name) ?? weight;
  return {
    ...weights,
    model: describeModel({ ...config, n_positions }),
    tensor(weight) {
      const tensor = weights.tensor(same(weight));
      if (weight.tensors[0]?.name !== "wpe.weight") return tensor;
      const readRows: Tensor["readRows"] = async (begin, end) => {
        const positions = Array.from({ length: end - begin }, (_, i) => (begin + i) % tensor.rows);
        const rows = await Promise.all(positions.map((position) => tensor.readRows(position, position + 1)));
        return new Uint8Array(await new Blob(rows).arrayBuffer());
      };
      return { ...tensor, rows: n_positions, readRows };
    },
  };
}

function sequenceAt(slot: number, prompt: readonly number[]): Sequence {
  const sequence = new Sequence({ requestId: `s${slot}`, index: 0, params: GREEDY, prompt, arrivalMs: 0 });
  const blocks = Array.from({ length: BLOCKS }, (_, i) => slot + 2 * i);
  return placeSequence(sequence, slot, blocks);
}

function rowsOf(sequence: Sequence, start: number, end: number) {
  const samples = end === sequence.tokens.length;
  return { sequence, start, count: end - start, samples, drafts: [], scored: 0, cachedTokens: 0 };
}

async function compute({ compiled, step, activations }: PreparedGraph, scheduled: readonly ScheduledSequence[]) {
  const shape = step.write(opened.device.queue, new StepPlanner().plan(scheduled));
  const dispatches = dispatchesOf(compiled, shape);
  runDispatches(opened, dispatches, shape);
  const logits = await readBuffer(opened.device, activations.logits);
  return { logits, splits: dispatches.filter(({ name }) => name.endsWith("in splits")).length };
}
