// A model's graph with all that it reads and writes, without an engine around it.

import { expect } from "vitest";

import { resolveEngineConfig } from "../../src/api/engine-config.ts";
import { Activations } from "../../src/backends/gpu/activations.ts";
import { Arena } from "../../src/backends/gpu/arena.ts";
import { CompiledGraph } from "../../src/backends/gpu/compiled-graph.ts";
import type { OpenedDevice } from "../../src/backends/gpu/device.ts";
import { KernelCompiler, type Dispatch } from "../../src/backends/gpu/kernel.ts";
import { LaterPipelines } from "../../src/backends/gpu/later-pipelines.ts";
import { LaterTiles } from "../../src/backends/gpu/later-tiles.ts";
import type { KernelTraits } from "../../src/backends/gpu/kernel-style.ts";
import { defaultMatmuls, type MatmulVariant } from "../../src/backends/gpu/matmul-variants.ts";
import type { OperationContext } from "../../src/backends/gpu/operations/operations.ts";
import { ModelBuffers } from "../../src/backends/gpu/model-buffers.ts";
import { tileChoices, type QueryTiles } from "../../src/backends/gpu/query-tiles.ts";
import { StepBuffer, type StepShape } from "../../src/backends/gpu/step-buffer.ts";
import { WeightUploader } from "../../src/backends/gpu/weight-uploader.ts";
import { maxSequenceLength } from "../../src/engine/scheduling/admission.ts";
import { StepPlanner } from "../../src/engine/step-planner.ts";
import type { ModelWeights } from "../../src/models/model-weights.ts";
import type { ResolvedEngineConfig } from "../../src/protocol/config.ts";
import { readBuffer } from "./gpu.ts";
import { placedSequence } from "./runner-runs.ts";

export interface PreparedGraph {
  readonly compiled: CompiledGraph;
  readonly context: OperationContext;
  readonly buffers: ModelBuffers;
  readonly activations: Activations;
  readonly step: StepBuffer;
  readonly arena: Arena;
}

interface GraphOptions {
  readonly adapter: KernelTraits;
  readonly maxBindingBytes?: number;
  /** How attention tiles rows. [the adapter's default] */
  readonly tiles?: QueryTiles;
  /** By ascending rows. [those that are enough: they compile slowly] */
  readonly matmuls?: readonly MatmulVariant[];
  /** Whether all is compiled, and not only what a first step needs; if not, products have no other kernels later. [true] */
  readonly isComplete?: boolean;
}

export async function prepareGraph(
  { device, poller }: OpenedDevice,
  weights: ModelWeights,
  engine: ResolvedEngineConfig,
  { adapter, maxBindingBytes = 2 ** 27, tiles, isComplete = true, ...options }: GraphOptions,
): Promise<PreparedGraph> {
  const { shape, graph } = weights.model;
  const arena = new Arena(device);
  const limits = {
    maxRows: engine.maxNumBatchedTokens,
    maxSamples: engine.maxNumSeqs,
    maxSlots: engine.maxNumSeqs,
    maxBlocks: Math.ceil(maxSequenceLength(engine) / engine.blockSize),
    maxLength: maxSequenceLength(engine),
    style: adapter.style,
    activationDtype: engine.activationDtype,
  };
  const ofModel = { vocabSize: shape.vocabSize, hasStates: shape.states !== undefined };
  const step = new StepBuffer(arena, { ...limits, ...ofModel, logprobsMode: engine.logprobsMode });
  const activations = new Activations(arena, shape, graph, limits);
  const compiler = new KernelCompiler(device);
  const uploader = new WeightUploader(device, arena, compiler, { maxBindingBytes });
  const buffers = new ModelBuffers(uploader, arena, weights, engine);
  await uploader.fill();
  uploader.destroy();
  const { vocabSize } = shape;
  // One of the kernels for GPUs suffices, for products of any size: they compile slowly on a software adapter, which itself
  // needs none but the first.
  const fewest = adapter.style === "plain" ? [] : defaultMatmuls(adapter).slice(-1);
  const usual = adapter.style === "plain" && isComplete ? defaultMatmuls(adapter) : fewest;
  const { matmuls = usual } = options;
  const later = new LaterPipelines(compiler);
  const parts = { compiler, later, arena, graph, shape, vocabSize, engine, buffers, activations, step, matmuls };
  const laterTiles = new LaterTiles(step, tiles ?? tileChoices(adapter, shape)[0]);
  const context = { device, poller, ...parts, integerMatmuls: null, tiles: laterTiles };
  const compiled = await CompiledGraph.compile(context, adapter);
  if (isComplete) expect(await later.start()).toEqual([]);
  return { compiled, context, buffers, activations, step, arena };
}

/** Returns the logits after a prompt that is one step, by the kernels of GPUs, in f32. */
export async function gpuKernelLogits(
  opened: OpenedDevice,
  weights: ModelWeights,
  prompt: readonly number[],
): Promise<Float32Array> {
  const adapter: KernelTraits = { style: "fused", hasSubgroups: false };
  const sizes = { maxNumSeqs: 1, maxNumBatchedTokens: prompt.length, numGpuBlocks: 64 };
  const { shape } = weights.model;
  const engine = resolveEngineConfig({ ...sizes, dtype: "f32", kvCacheDtype: "f32" }, shape);
  const { compiled, activations, step, arena } = await prepareGraph(opened, weights, engine, { adapter });
  const sequence = placedSequence(prompt, 0, prompt.length);
  const share = { start: 0, count: prompt.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  const size = step.write(opened.device.queue, new StepPlanner().plan([{ sequence, ...share }]));
  runDispatches(opened, dispatchesOf(compiled, size), size);
  const logits = new Float32Array(await readBuffer(opened.device, activations.logits)).slice(0, shape.vocabSize);
  arena.destroy();
  return logits;
}

/** Returns a step's dispatches before it draws. */
export function dispatchesOf(compiled: CompiledGraph, shape: StepShape): Dispatch[] {
  const dispatches: Dispatch[] = [];
  compiled.forEach(shape, (dispatch) => dispatches.push(dispatch));
  return dispatches;
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
