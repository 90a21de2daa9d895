// A model's graph with all that it reads and writes, without an engine around it.

import type { OpenedDevice } from "../backends/gpu/device.ts";
import { Arena } from "../backends/gpu/arena.ts";
import { createActivations, uploadWeights, type Activations, type Gpt2Buffers } from "../backends/gpu/gpt2-buffers.ts";
import { Gpt2Graph } from "../backends/gpu/gpt2-graph.ts";
import { KernelCompiler, type Dispatch } from "../backends/gpu/kernel.ts";
import { usualMatmuls, type AdapterTraits, type MatmulVariant } from "../backends/gpu/matmul-variants.ts";
import { StepBuffer, type StepShape } from "../backends/gpu/step-buffer.ts";
import { WeightUploader } from "../backends/gpu/weight-uploader.ts";
import type { Gpt2Weights } from "../models/gpt2/gpt2-weights.ts";
import type { ResolvedEngineConfig } from "../protocol/config.ts";

export interface PreparedGraph {
  readonly graph: Gpt2Graph;
  readonly buffers: Gpt2Buffers;
  readonly activations: Activations;
  readonly step: StepBuffer;
  readonly arena: Arena;
}

export async function prepareGraph(
  { device }: OpenedDevice,
  weights: Gpt2Weights,
  engine: ResolvedEngineConfig,
  {
    adapter,
    matmuls = usualMatmuls(adapter),
    maxBindingBytes = 2 ** 27,
  }: { adapter: AdapterTraits; matmuls?: readonly MatmulVariant[]; maxBindingBytes?: number },
): Promise<PreparedGraph> {
  const model = weights.config;
  const arena = new Arena(device);
  const limits = {
    maxRows: engine.maxNumBatchedTokens,
    maxSamples: engine.maxNumSeqs,
    maxSlots: engine.maxNumSeqs,
    maxBlocks: Math.ceil(engine.maxModelLen / engine.blockSize),
    maxLength: engine.maxModelLen,
    isSoftware: adapter.isSoftware,
  };
  const step = new StepBuffer(arena, { ...limits, vocabSize: model.vocabSize });
  const activations = createActivations(arena, model, limits);
  const compiler = new KernelCompiler(device);
  const uploader = new WeightUploader(device, arena, compiler, engine.dtype, { maxBindingBytes });
  const buffers = await uploadWeights(uploader, arena, weights, engine);
  uploader.destroy();
  const graph = await Gpt2Graph.prepare({ compiler, model, engine, buffers, activations, step, adapter, matmuls });
  return { graph, buffers, activations, step, arena };
}

/** Submits some of a step's dispatches. */
export function runDispatches({ device }: OpenedDevice, dispatches: Iterable<Dispatch>, shape: StepShape): void {
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  for (const { pipeline, bindGroup, workgroups } of dispatches) {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(...workgroups(shape));
  }
  pass.end();
  device.queue.submit([encoder.finish()]);
}
