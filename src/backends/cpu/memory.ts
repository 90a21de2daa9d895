// The memory that a model takes on the CPU, computed before it is loaded.

import type { Model } from "../../models/model.ts";
import { dtypesOf } from "../../models/weight-layouts.ts";
import { byteSize } from "../../protocol/byte-size.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { largestCount } from "../../protocol/largest-count.ts";
import { cacheBytes } from "../../protocol/model-shape.ts";
import type { EngineSizes, ModelMemory } from "../backend.ts";
import { MemoryMap } from "./memory-map.ts";
import { ModelPlan } from "./model-plan.ts";
import { WeightMemory } from "./weight-memory.ts";

/** Addresses have 32 bits. */
const MAX_PAGES = 65_536;
const PAGE_BYTES = 65_536;

export function modelMemory(model: Model, sizes: EngineSizes): ModelMemory {
  return {
    weightBytes: new WeightMemory(new MemoryMap(), model, sizes.dtype).bytes,
    kvCacheBytes: cacheBytes(model.shape, sizes),
  };
}

/** @throws ChorusError out_of_memory if the model needs more than WebAssembly can address, saying what would fit */
export function checkFits(model: Model, engine: ResolvedEngineConfig, maxThreads: number): void {
  const pagesOf = (changes: Partial<ResolvedEngineConfig> = {}) =>
    new ModelPlan(model, { ...engine, ...changes }, maxThreads).pages;
  const pages = pagesOf();
  if (pages <= MAX_PAGES) return;
  const [param, advice] = whatWouldFit(model, engine, pagesOf);
  const message = `This model and its cache would take ${byteSize(pages * PAGE_BYTES)}; WebAssembly has at most ${byteSize(MAX_PAGES * PAGE_BYTES)}. ${advice}.`;
  throw new ChorusError("out_of_memory", message, param);
}

function whatWouldFit(
  model: Model,
  engine: ResolvedEngineConfig,
  pagesOf: (changes?: Partial<ResolvedEngineConfig>) => number,
): readonly [param: string | null, advice: string] {
  const blocks = largestCount(engine.numGpuBlocks, (numGpuBlocks) => pagesOf({ numGpuBlocks }) <= MAX_PAGES);
  const fullContext = Math.ceil(engine.maxModelLen / engine.blockSize);
  if (blocks >= fullContext) {
    return [
      "kvCacheBytes",
      `kvCacheBytes ${cacheBytes(model.shape, { ...engine, numGpuBlocks: blocks })} (${blocks} blocks) would fit`,
    ];
  }
  const smaller = dtypesOf(model).find((dtype) => pagesOf({ dtype }) <= MAX_PAGES);
  if (smaller) return ["dtype", `dtype "${smaller}" would fit`];
  return [null, "No dtype would fit: choose a smaller model"];
}
