import { expect, it } from "vitest";
import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGolden } from "../../testing/models/golden.ts";
import { differingWords, openTestDevice, randomFloats, readBuffer } from "../../testing/gpu/gpu.ts";
import { Arena } from "./arena.ts";
import { Activations } from "./activations.ts";
import { KernelCompiler } from "./kernel.ts";
import { measureOn } from "./matmul-tuning.ts";
import { matmulChoices } from "./matmul-variants.ts";
import { ModelBuffers } from "./model-buffers.ts";
import { StepBuffer } from "./step-buffer.ts";
import { WeightUploader } from "./weight-uploader.ts";

const { device, poller, hasSubgroups } = await openTestDevice();
const MAX_ROWS = 40;

it("measures every variant for GPUs on a model's own weights, and all give the same bits", async () => {
  const { weights } = await loadGolden("gpt2-tiny");
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
  const fc = graph.operations.find(({ label }) => label === "layer 0 fc");
  const ln2 = graph.operations.find(({ label }) => label === "layer 0 ln2");
  if (fc?.type !== "linear" || ln2?.type !== "norm") throw new Error("a graph without its products");
  const [x, hidden] = [activations.buffer(ln2.input), activations.buffer(fc.output)];
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
