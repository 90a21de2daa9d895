import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { prepareGraph } from "../../../tests/gpu/prepared-graph.ts";
import { differingWords, openTestDevice, randomFloats, readBuffer } from "../../../tests/gpu/gpu.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import { promptMs, tuneTiles } from "./attention-tuning.ts";
import type { KernelTraits } from "./kernel-style.ts";
import { tileChoices } from "./query-tiles.ts";

const opened = await openTestDevice();
const GPU: KernelTraits = { style: "fused", hasSubgroups: false };

/** A model of which a step may have so many rows, and its first attention. */
async function prepare(maxNumBatchedTokens: number) {
  const { weights } = await loadGolden("gpt2-tiny");
  const engine = resolveEngineConfig({ maxNumSeqs: 1, maxNumBatchedTokens, numGpuBlocks: 8 }, weights.model.shape);
  const { context, arena } = await prepareGraph(opened, weights, engine, { adapter: GPU });
  const attention = context.graph.operations.find((one) => one.type === "attention") ?? expect.fail("no attention");
  const model = { ...context, device: opened.device, poller: opened.poller };
  return { model, attention, choice: tileChoices(GPU, context.shape), arena };
}

it("measures prompts in tiles of every size and row by row, and all give the same bits", async () => {
  const { model, attention, choice, arena } = await prepare(90);
  const [qkv, y] = [model.activations.buffer(attention.input), model.activations.buffer(attention.output)];
  opened.device.queue.writeBuffer(qkv, 0, randomFloats(qkv.size / 4, 1));
  const results: ArrayBuffer[] = [];
  for (const tiles of choice) {
    opened.device.queue.writeBuffer(y, 0, new Float32Array(y.size / 4));
    expect(await promptMs(model, attention, tiles, 90)).toBeGreaterThan(0);
    results.push(await readBuffer(opened.device, y));
  }
  expect(results).toHaveLength(4);
  const [first = new ArrayBuffer(0)] = results;
  expect(new Float32Array(first, 0, 90 * 64).every((value) => value !== 0)).toBe(true);
  for (const result of results) expect(differingWords(result, first)).toBe(0);
  arena.destroy();
});

it("measures nothing where no step has rows enough for a tile", async () => {
  const { model, choice, arena } = await prepare(64);
  const store = { load: () => expect.fail("looked up"), save: () => expect.fail("measured") };
  expect(await tuneTiles(choice, "a GPU", store, model)).toEqual({ variants: [choice[0]], reason: "no choice" });
  arena.destroy();
});
