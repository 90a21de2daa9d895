import { expect, it } from "vitest";
import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGolden } from "../../testing/models/golden.ts";
import { differingWords, openTestDevice, randomFloats, readBuffer } from "../../testing/gpu/gpu.ts";
import { Arena } from "./arena.ts";
import { Activations } from "./activations.ts";
import { KernelCompiler } from "./kernel.ts";
import { measureOn } from "./matmul-tuning.ts";
import { matmulChoices, usualMatmuls } from "./matmul-variants.ts";
import { ModelBuffers } from "./model-buffers.ts";
import { StepBuffer } from "./step-buffer.ts";
import { WeightUploader } from "./weight-uploader.ts";

const { device, poller, hasSubgroups } = await openTestDevice();
const MAX_ROWS = 40;

/** A measurement of the model's widest products, which read `x` and write `y`. */
async function prepare(name: "gpt2-tiny" | "llama-tiny/tied") {
  const { weights } = await loadGolden(name);
  const { shape, graph } = weights.model;
  const engine = resolveEngineConfig({ maxNumSeqs: 4, maxNumBatchedTokens: MAX_ROWS, numGpuBlocks: 8 }, shape);
  const arena = new Arena(device);
  const compiler = new KernelCompiler(device);
  const limits = { maxRows: MAX_ROWS, maxSamples: 4, maxSlots: 4, maxBlocks: 8, maxLength: 128, isSoftware: false };
  const step = new StepBuffer(arena, { ...limits, vocabSize: shape.vocabSize });
  const activations = new Activations(arena, shape, graph, limits);
  const uploader = new WeightUploader(device, arena, compiler, engine.dtype);
  const buffers = await ModelBuffers.upload(uploader, arena, weights, engine);
  uploader.destroy();
  const widest = graph.operations.find(({ label }) => label === "layer 0 fc" || label === "layer 0 mlp");
  const ln2 = graph.operations.find(({ label }) => label === "layer 0 ln2");
  if (!widest || !("output" in widest) || ln2?.type !== "norm") throw new Error("a graph without its products");
  const [x, y] = [activations.buffer(ln2.input), activations.buffer(widest.output)];
  device.queue.writeBuffer(x, 0, randomFloats(x.size / 4, 1));
  const { vocabSize } = shape;
  const measure = measureOn({
    device,
    poller,
    compiler,
    arena,
    graph,
    shape,
    vocabSize,
    engine,
    buffers,
    activations,
    step,
  });
  return { measure, y, arena };
}

it("measures every variant for GPUs on a model's own weights, and all give the same bits", async () => {
  const { measure, y: hidden, arena } = await prepare("gpt2-tiny");
  const seen = new Map<string, ArrayBuffer>();
  for (const choice of matmulChoices({ isSoftware: false, hasSubgroups })) {
    for (const variant of choice) {
      const rows = Math.min(variant.maxRows, MAX_ROWS);
      expect(await measure(variant, rows)).toBeGreaterThan(0);
      const [y, before] = [await readBuffer(device, hidden), seen.get(`${rows}`)];
      expect(new Float32Array(y, 0, 64).some((value) => value !== 0)).toBe(true);
      if (before) expect(differingWords(y, before), variant.name).toBe(0);
      seen.set(`${rows}`, y);
    }
  }
  expect(seen.size).toBe(5);
  arena.destroy();
});

it("measures both products of a gate as one", async () => {
  const { measure, y, arena } = await prepare("llama-tiny/tied");
  const results: ArrayBuffer[] = [];
  for (const variant of usualMatmuls({ isSoftware: false, hasSubgroups })) {
    device.queue.writeBuffer(y, 0, new Float32Array(y.size / 4));
    expect(await measure(variant, 1)).toBeGreaterThan(0);
    results.push(await readBuffer(device, y));
  }
  // The width of the gate is 176, padded to 192: one row of it, and zeros.
  const [first = new ArrayBuffer(0)] = results;
  expect(new Float32Array(first, 0, 176).every((value) => value !== 0)).toBe(true);
  expect(new Float32Array(first).subarray(176).every((value) => value === 0)).toBe(true);
  for (const result of results) expect(differingWords(result, first)).toBe(0);
  arena.destroy();
});
