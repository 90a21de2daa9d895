// A model's widest products, ready to be measured by any kernel. Nothing of a test runner is imported: a bare page may import
// it, too.

import { resolveEngineConfig } from "../../src/api/engine-config.ts";
import { Activations } from "../../src/backends/gpu/activations.ts";
import { Arena } from "../../src/backends/gpu/arena.ts";
import type { OpenedDevice } from "../../src/backends/gpu/device.ts";
import { KernelCompiler } from "../../src/backends/gpu/kernel.ts";
import { measureOn } from "../../src/backends/gpu/matmul-tuning.ts";
import { ModelBuffers } from "../../src/backends/gpu/model-buffers.ts";
import { StepBuffer } from "../../src/backends/gpu/step-buffer.ts";
import { WeightUploader } from "../../src/backends/gpu/weight-uploader.ts";
import type { ModelWeights } from "../../src/models/model-weights.ts";
import type { WeightsDtype } from "../../src/protocol/config.ts";
import { randomFloats } from "./buffers.ts";

export interface PreparedProducts {
  /** Times a kernel, and so has it compute. */
  readonly measure: ReturnType<typeof measureOn>;
  /** The random numbers that they read, and the output that all of them write: the last layer's stays. */
  readonly x: GPUBuffer;
  readonly y: GPUBuffer;
  /** Values of a row of y, without padding. */
  readonly width: number;
  /** Bytes of the weights that one product reads. */
  readonly weightBytes: number;
  readonly destroy: () => void;
}

export async function prepareProducts(
  { device, poller }: Pick<OpenedDevice, "device" | "poller">,
  weights: ModelWeights,
  { maxRows, dtype = "f16" }: { maxRows: number; dtype?: WeightsDtype },
): Promise<PreparedProducts> {
  const { shape, graph } = weights.model;
  const sizes = { maxNumSeqs: 4, maxNumBatchedTokens: maxRows, numGpuBlocks: 8, dtype };
  const engine = resolveEngineConfig(sizes, shape);
  const arena = new Arena(device);
  const compiler = new KernelCompiler(device);
  const sizesOfStep = { maxRows, maxSamples: 4, maxSlots: 4, maxBlocks: 8, maxLength: 128 };
  const limits = { ...sizesOfStep, style: "fused", activationDtype: engine.activationDtype } as const;
  const step = new StepBuffer(arena, { ...limits, vocabSize: shape.vocabSize, logprobsMode: engine.logprobsMode });
  const activations = new Activations(arena, shape, graph, limits);
  const uploader = new WeightUploader(device, arena, compiler);
  const buffers = new ModelBuffers(uploader, arena, weights, engine);
  await uploader.fill();
  uploader.destroy();
  const widest = graph.operations.find(({ label }) => label === "layer 0 fc" || label === "layer 0 mlp");
  const ln2 = graph.operations.find(({ label }) => label === "layer 0 ln2");
  if ((widest?.type !== "linear" && widest?.type !== "gate") || ln2?.type !== "norm") {
    throw new Error("a graph without its products");
  }
  const { matrix } = widest.type === "linear" ? widest.linear : widest.gate;
  const parts = buffers.product(widest.type === "linear" ? widest.linear : widest.gate);
  const [x, y] = [activations.buffer(ln2.input), activations.buffer(widest.output)];
  device.queue.writeBuffer(x, 0, randomFloats(x.size / 4, 1));
  const { vocabSize } = shape;
  const model = { device, poller, compiler, arena, graph, shape, vocabSize, engine, buffers, activations, step };
  return {
    measure: measureOn(model),
    x,
    y,
    width: matrix.outputs,
    weightBytes: parts.reduce((sum, { w }) => sum + w.size, 0),
    destroy: () => arena.destroy(),
  };
}
