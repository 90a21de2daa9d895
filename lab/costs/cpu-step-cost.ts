// What each kind of operation takes of a step on the CPU, on one thread, beside what the core can do at most: its rate of
// multiply-adds, and how fast it reads as many bytes as the weights have. Weights are random bits: speed does not depend on
// them. The cache is filled, since pages never written are one page of zeros.

import { resolveEngineConfig } from "../../src/api/engine-config.ts";
import { assembleKernels, instantiateKernels } from "../../src/backends/cpu/kernels/kernels.ts";
import { ModelPlan } from "../../src/backends/cpu/model-plan.ts";
import type { Operation } from "../../src/backends/cpu/program/operation.ts";
import { StepWriter } from "../../src/backends/cpu/step-writer.ts";
import { openStepThread } from "../../src/backends/cpu/threads/thread-body.ts";
import type { FunctionBuilder } from "../../src/backends/cpu/wasm/function-builder.ts";
import { f32x4, i32, v128 } from "../../src/backends/cpu/wasm/instructions.ts";
import { ModuleBuilder } from "../../src/backends/cpu/wasm/module-builder.ts";
import { MODEL_SIZES } from "../model/model-sizes.ts";
import { configOf } from "../model/random-model.ts";
import type { Sample, StepPlan } from "../../src/engine/step-plan.ts";
import { describeModel } from "../../src/models/families.ts";
import type { Model } from "../../src/models/model.ts";
import type { WeightsDtype } from "../../src/protocol/config.ts";
import { printTable } from "../report/table.ts";
import { fillWithSmallFloats } from "./small-floats.ts";

type Kind = Operation["type"];

const CONTEXT = 64;
const PROMPTS = [16, 32, 64, 128, 256];
const BATCHES = [1, 4, 8, 16];
const MEASURE_MS = 1000;
/** Kinds with a figure of their own; the rest share one. */
const TOLD: readonly Kind[] = ["linear", "attend", "norm", "sample"];

interface StepCost {
  readonly ms: number;
  readonly msOf: ReadonlyMap<Kind, number>;
}

/** @param size of the benchmark's models */
export async function printCpuStepCosts(
  size: keyof typeof MODEL_SIZES,
  dtypes: readonly WeightsDtype[],
): Promise<void> {
  const model = describeModel(configOf(MODEL_SIZES[size]));
  const peak = await multiplyAddsPerSecond();
  const rows: (string | number)[][] = [];
  for (const dtype of dtypes) {
    const bench = await openBench(model, dtype);
    const bandwidth = await bytesPerSecond(bench.weightBytes);
    for (const shape of [
      ...BATCHES.map((count) => ({ count, prompt: 0 })),
      ...PROMPTS.map((prompt) => ({ count: 1, prompt })),
    ]) {
      const { ms, msOf } = bench.measure(shape);
      const numRows = shape.prompt || shape.count;
      const productMs = msOf.get("linear") ?? NaN;
      const rate = (2 * bench.multiplyAdds(numRows, shape.count)) / productMs / 1e6;
      const read = bench.weightBytes / productMs / 1e6;
      const rest = [...msOf].reduce((sum, [kind, own]) => (TOLD.includes(kind) ? sum : sum + own), 0);
      const percent = (own: number) => `${((100 * own) / ms).toFixed(1)}%`;
      rows.push([
        dtype,
        shape.prompt ? `prompt of ${shape.prompt}` : `${shape.count} decode`,
        ms.toFixed(2),
        Math.round((1000 * numRows) / ms),
        ...TOLD.map((kind) => percent(msOf.get(kind) ?? 0)),
        percent(rest),
        `${rate.toFixed(1)} (${Math.round((100 * rate) / (2 * peak))}%)`,
        `${read.toFixed(1)} (${Math.round((100 * read) / bandwidth)}%)`,
      ]);
    }
  }
  const title = `${size} on one thread, context ${CONTEXT}, relaxed SIMD: at most ${(2 * peak).toFixed(1)} GFLOP/s in registers`;
  const head = ["weights", "step", "ms", "tok/s", "products", "attention", "norms", "sampling", "rest"];
  printTable(title, [...head, "products GFLOP/s (of the most)", "GB/s (of a read)"], rows);
}

async function openBench(model: Model, dtype: WeightsDtype) {
  const engine = resolveEngineConfig({ dtype, maxNumSeqs: 16, kvCacheBytes: 2 ** 26 }, model.shape);
  const plan = new ModelPlan(model, engine, 1);
  const memory = new WebAssembly.Memory({ initial: plan.pages, maximum: plan.pages });
  const { numHeads, numKvHeads, headDim } = model.shape;
  const bytes = assembleKernels({
    math: "fastest",
    dtype,
    cache: plan.cache,
    rotarySize: headDim,
    queriesAKey: numHeads / numKvHeads,
    memory: { isShared: false, pages: plan.pages },
  });
  const module = await WebAssembly.compile(bytes);
  const { step, sampler, sync, cache, scratch } = plan;
  const { program } = plan.graph;
  const shared = { module, memory, thread: { program, step, cache, scratch }, sampler, sync };
  const thread = openStepThread(await instantiateKernels(module, memory), shared, 0);
  const writer = new StepWriter(memory.buffer, step, sampler);
  fillWithSmallFloats(memory.buffer);
  const blocks = Math.ceil(Math.max(CONTEXT, ...PROMPTS) / engine.blockSize);

  /** Computes a step, and keeps the quickest time of each phase. */
  const run = (quickest: number[]) => {
    let phase = 0;
    let before = performance.now();
    thread.run(1, {
      meet() {
        const now = performance.now();
        quickest[phase] = Math.min(quickest[phase] ?? Infinity, now - before);
        phase++;
        before = performance.now();
      },
    });
  };

  return {
    weightBytes: plan.weightBytes,
    multiplyAdds(numRows: number, samples: number): number {
      const ofRows = (of: "rows" | "samples") => (of === "rows" ? numRows : samples);
      const ofOperation = (one: Operation) =>
        one.type === "linear" ? ofRows(one.of) * one.w.kStride * one.w.nStride : 0;
      return program.flat().reduce((sum, operation) => sum + ofOperation(operation), 0);
    },
    /** Each phase at its quickest: a step is long enough that others always want the core within it. */
    measure({ count, prompt }: { readonly count: number; readonly prompt: number }): StepCost {
      writer.write(stepPlan(count, prompt, blocks));
      const quickest: number[] = [];
      for (const begin = performance.now(); performance.now() - begin < MEASURE_MS;) run(quickest);
      const msOf = new Map<Kind, number>();
      program.forEach(([operation], phase) => {
        const kind = operation?.type ?? "record";
        msOf.set(kind, (msOf.get(kind) ?? 0) + (quickest[phase] ?? NaN));
      });
      return { ms: quickest.reduce((sum, ms) => sum + ms, 0), msOf };
    },
  };
}

/** One row of each of `count` sequences, or all rows of one prompt; each sequence draws a token. */
function stepPlan(count: number, prompt: number, blocks: number): StepPlan {
  const rows = prompt
    ? Array.from({ length: prompt }, (_, position) => [7 + (position % 50), position, 0, 0])
    : Array.from({ length: count }, (_, slot) => [7 + slot, CONTEXT - 1, slot, CONTEXT - 1]);
  const params = { temperature: 0, topK: 0, topP: 1, minP: 0, typicalP: 1, seed: 0 } as const;
  const rules = { repetitionPenalty: 1, frequencyPenalty: 0, presencePenalty: 0, noRepeatNgramSize: 0 } as const;
  const samples = Array.from({ length: count }, (_, slot): Sample => ({
    kind: "draw",
    row: prompt ? prompt - 1 : slot,
    slot,
    numTop: 0,
    outputIndex: 0,
    promptLength: prompt || CONTEXT,
    params: { ...params, ...rules },
    isProcessed: false,
    isTooEarly: false,
    isNormalised: false,
    mask: null,
  }));
  return {
    sequences: [],
    rows: new Uint32Array(rows.flat()),
    samples,
    blockTables: Array.from({ length: count }, (_, slot) => ({
      slot,
      start: 0,
      values: Array.from(Array(blocks).keys(), (block) => slot * blocks + block),
    })),
    histories: [],
    rules: [],
    masks: [],
  };
}

/** Of one core: on vectors that stay in registers, in enough chains that none waits. In 10^9. */
async function multiplyAddsPerSecond(): Promise<number> {
  const chains = 12;
  const steps = 2 ** 20;
  const run = await compile(1, (f) => {
    const sums = Array.from({ length: chains }, () => f.v128(0));
    const one = f.v128(f32x4.splat(1));
    f.for(0, steps, 1, () => sums.forEach((sum) => sum.set(f32x4.relaxedMadd(one, one, sum))));
    for (const sum of sums) f.storeV128(0, sum);
  });
  return (chains * 4 * steps) / quickestMs(run) / 1e6;
}

/** Of a read and nothing else. In 10^9. */
async function bytesPerSecond(bytes: number): Promise<number> {
  const end = bytes - (bytes % 128);
  const run = await compile(Math.ceil(bytes / 65_536) + 1, (f) => {
    const sums = Array.from({ length: 8 }, () => f.v128(0));
    f.for(0, end, 128, (at) => sums.forEach((sum, i) => sum.set(v128.xor(sum, v128.load(i32.add(at, 0), 16 * i)))));
    for (const sum of sums) f.storeV128(0, sum);
  });
  return bytes / quickestMs(run) / 1e6;
}

async function compile(pages: number, body: (f: FunctionBuilder) => void): Promise<() => void> {
  const module = new ModuleBuilder({ isShared: false, pages });
  module.function("run", {}, body);
  const memory = new WebAssembly.Memory({ initial: pages, maximum: pages });
  fillWithSmallFloats(memory.buffer);
  const { instance } = await WebAssembly.instantiate(module.finish(), { env: { memory } });
  return instance.exports["run"] as () => void;
}

function quickestMs(run: () => void): number {
  let best = Infinity;
  for (const begin = performance.now(); performance.now() - begin < MEASURE_MS;) {
    const before = performance.now();
    run();
    best = Math.min(best, performance.now() - before);
  }
  return best;
}
