import type { RotaryAngles } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { WeightLayout } from "../../files/packing.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import {
  convRowsPerBlock,
  convStride,
  numKvLayers,
  numStateSlots,
  stateBytesPerLayer,
  type ModelShape,
} from "../../protocol/model-shape.ts";
import { stepLimits } from "../step-limits.ts";
import { compileGraph, type CompiledGraph } from "./compile-graph.ts";
import { headBlockBytes, headStrideOf, type CacheShape } from "./kernels/cache-write.ts";
import { integerBytes, SCRATCH_BYTES } from "./kernels/product.ts";
import { MemoryMap } from "./memory-map.ts";
import type { KeptRows, LayerCache, Rows, StatePlace } from "./program/operation.ts";
import { takeStepMemory, type StepMemory } from "./program/step-memory.ts";
import type { ThreadScratch } from "./program/step-thread.ts";
import { rotaryTable } from "./rotary-angles.ts";
import { takeSamplerMemory, type SamplerMemory } from "./sampler/sampler.ts";
import { takeSyncMemory, type SyncMemory } from "./threads/sync-memory.ts";
import { WeightMemory } from "./weight-memory.ts";

/** A model laid out in a memory that does not exist yet: how large it must be, and the program that computes in it. */
export class ModelPlan {
  readonly graph: CompiledGraph;
  readonly step: StepMemory;
  readonly sampler: SamplerMemory;
  readonly sync: SyncMemory;
  readonly cache: CacheShape;
  readonly scratch: ThreadScratch;
  readonly pages: number;
  readonly weightBytes: number;
  readonly layouts: readonly WeightLayout[];
  readonly #weights: WeightMemory;
  readonly #tables = { queries: new Map<RotaryAngles, Rows>(), keys: new Map<RotaryAngles, Rows>() };
  readonly #maxLength: number;
  readonly #maxModelLen: number;

  constructor(model: Model, engine: ResolvedEngineConfig, maxThreads: number) {
    const { shape, graph } = model;
    const map = new MemoryMap();
    const { blockSize, logprobsMode } = engine;
    const limits = stepLimits(engine);
    const { maxRows, maxSamples, maxLength } = limits;
    this.#maxLength = maxLength;
    this.#maxModelLen = engine.maxModelLen;
    this.sync = takeSyncMemory(map);
    const numStates = numStateSlots(shape, engine);
    this.step = takeStepMemory(map, { ...limits, numStates });
    this.sampler = takeSamplerMemory(map, { ...limits, vocabSize: shape.vocabSize, maxThreads, logprobsMode });
    const headStride = headStrideOf(shape.headDim);
    this.cache = { dtype: engine.kvCacheDtype, headSize: headStride, blockSize };
    this.#weights = new WeightMemory(map, model, engine.dtype);
    const pitch = 4 * (maxLength + blockSize);
    const ofProducts =
      SCRATCH_BYTES + (engine.activationDtype === "int8" ? integerBytes(this.#weights.widestPacked) : 0);
    const bytes = ofProducts + shape.numHeads * pitch;
    const totals = map.take(maxThreads * bytes);
    this.scratch = { totals, scores: totals + ofProducts, pitch, bytes };
    this.weightBytes = this.#weights.bytes;
    this.layouts = this.#weights.layouts;
    this.graph = compileGraph(graph, {
      map,
      weights: this.#weights,
      shape,
      caches: takeCaches(map, numKvLayers(shape), shape.numKvHeads * headBlockBytes(this.cache), engine.numGpuBlocks),
      kept: takeKeptRows(map, shape, engine),
      states: takeStates(map, shape, numStates),
      headStride,
      maxRows,
      maxSamples,
      anglesOf: ({ angles }, of) => this.#tableOf(map, angles, angles.queryGrowth ? of : "keys"),
    });
    this.pages = map.pages;
  }

  /** Reads the weights into the memory, and computes the tables. */
  async fill(memory: ArrayBufferLike, weights: ModelWeights): Promise<void> {
    for (const of of ["queries", "keys"] as const) {
      for (const [angles, { address }] of this.#tables[of]) {
        new Float32Array(memory, address).set(rotaryTable(angles, this.#maxLength, of, this.#maxModelLen));
      }
    }
    await this.#weights.load(weights, memory);
  }

  /** Returns the table of these angles, which layers with the same angles share. */
  #tableOf(map: MemoryMap, angles: RotaryAngles, of: "queries" | "keys"): Rows {
    const tables = this.#tables[of];
    const stride = 8 * angles.inverseFrequencies.length;
    const table = tables.get(angles) ?? { address: map.take(this.#maxLength * stride), stride };
    tables.set(angles, table);
    return table;
  }
}

function takeCaches(map: MemoryMap, layers: number, blockBytes: number, numBlocks: number): LayerCache[] {
  const take = () => map.take(numBlocks * blockBytes);
  return Array.from({ length: layers }, () => ({ keys: take(), values: take(), blockBytes }));
}

function takeKeptRows(map: MemoryMap, shape: ModelShape, engine: ResolvedEngineConfig): KeptRows[] {
  const stride = 4 * convStride(shape);
  const count = convRowsPerBlock(shape, engine);
  const take = () => map.take(engine.numGpuBlocks * count * stride);
  return Array.from({ length: shape.convs?.numLayers ?? 0 }, () => ({ address: take(), stride, count }));
}

function takeStates(map: MemoryMap, shape: ModelShape, numSlots: number): StatePlace[] {
  const { numLayers, convWidth, convRows: count } = shape.states ?? { numLayers: 0, convWidth: 0, convRows: 0 };
  const stride = stateBytesPerLayer(shape);
  const rowBytes = 4 * convWidth;
  const place = { stride, count, rowBytes, rowsBytes: count * rowBytes };
  return Array.from({ length: numLayers }, () => ({ ...place, address: map.take(numSlots * stride) }));
}
