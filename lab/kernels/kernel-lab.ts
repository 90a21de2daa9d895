import { createEngine } from "../../src/index.ts";
import type { EngineConfig, ModelSource } from "../../src/protocol/config.ts";
import type { ChorusEngine, CreateEngineOptions } from "../../src/protocol/engine.ts";
import { medianOf, mediansOf } from "../statistics.ts";
import { GpuListener, type ObservedDispatch } from "./gpu-listener.ts";
import { classOf, costOf, type KernelClass, type KernelCost, type StepShape } from "./kernel-cost.ts";
import { prepareRoofline, submitMs } from "./roofline.ts";

/** A step to measure: decoding sequences after prompts of `context` tokens, or one prompt of `rows`. */
export interface StepCase {
  readonly kind: "decode" | "prefill";
  readonly rows: number;
  readonly context: number;
}

/** Dispatches of one pipeline in a step. */
export interface KernelTime {
  readonly kernel: string;
  readonly class: KernelClass;
  readonly constants: Readonly<Record<string, number>>;
  readonly dispatches: number;
  /** Time of one dispatch. */
  readonly ms: number;
  readonly cost: KernelCost | null;
}

export interface StepTimes {
  readonly step: StepCase;
  readonly kernels: readonly KernelTime[];
  /** All of the step's dispatches in one pass. */
  readonly passMs: number;
  readonly dispatches: number;
}

export type KernelTimes = Awaited<ReturnType<typeof measureSteps>>;

/** Least duration of one submit; shorter ones would measure the submission itself. */
const SHORTEST_SUBMIT_MS = 8;
const MAX_REPEATS = 1024;

export interface KernelRun {
  readonly model: ModelSource;
  readonly config: EngineConfig;
  readonly cases: readonly StepCase[];
  readonly rounds: number;
  /** Most time; the last cases are then left out, but never the first. */
  readonly mostMs: number;
}

/**
 * Measures the kernels of an engine's steps, on the engine's own device with its own buffers.
 * @param gpu for the engine, which runs in this thread
 */
export async function measureKernels(gpu: GPU, run: KernelRun, onProgress: (share: number) => void) {
  const { model, config, cases } = run;
  // One step after the other, so that the last observed one is the requested one.
  const mostRows = Math.max(...cases.map(({ kind, rows, context }) => (kind === "decode" ? rows * context : rows)));
  const startMs = performance.now();
  const listener = new GpuListener(gpu);
  const engine = await openEngine({
    gpu: listener.gpu,
    ...config,
    model,
    runAhead: 0,
    enablePrefixCaching: false,
    maxNumSeqs: Math.max(...cases.map(({ rows }) => rows)),
    maxNumBatchedTokens: mostRows,
  });
  try {
    return await measureSteps(engine, listener, run, startMs + run.mostMs, onProgress);
  } finally {
    await engine.dispose();
  }
}

/** Opens an engine in this thread and waits until all kernels are compiled: earlier steps use slower ones. */
async function openEngine(options: CreateEngineOptions): Promise<ChorusEngine> {
  const kernels = { missing: 0 };
  let notifyProgress = (): void => {};
  const onProgress: CreateEngineOptions["onProgress"] = ({ stage, done, total }) => {
    if (stage !== "kernels") return;
    kernels.missing = total - done;
    notifyProgress();
  };
  const engine = await createEngine({ ...options, backend: "webgpu", worker: false, onProgress });
  while (kernels.missing > 0) await new Promise<void>((resolve) => (notifyProgress = resolve));
  return engine;
}

async function measureSteps(
  engine: ChorusEngine,
  listener: GpuListener,
  { cases, rounds }: KernelRun,
  endMs: number,
  onProgress: (share: number) => void,
) {
  const { device } = listener;
  if (!device) throw new Error("the engine has opened no device");
  const roofline = await prepareRoofline(device, engine.model.adapter.includes("(software)"));
  const rooflines: { copyMs: number; multiplyMs: number; smallestMs: number }[] = [];
  const steps: StepTimes[] = [];
  for (const [i, step] of cases.entries()) {
    const leftMs = endMs - performance.now();
    if (i > 0 && leftMs < 0) break;
    await runStep(engine, step);
    const pass = listener.dispatches;
    const groups = byPipeline(pass);
    const works = [[roofline.copy], [roofline.multiply], [roofline.smallest], pass, ...groups];
    const limits = { rounds, mostMs: leftMs / (cases.length - i) };
    const times = await listener.deaf(() =>
      interleavedMs(device, works, limits, (share) => onProgress((i + share) / cases.length)),
    );
    const [copyMs = NaN, multiplyMs = NaN, smallestMs = NaN, passMs = NaN, ...groupMs] = times.map(medianOf);
    rooflines.push({ copyMs, multiplyMs, smallestMs });
    const kernels = groups.map((group, g) => kernelTime(listener, group, (groupMs[g] ?? NaN) / group.length, step));
    steps.push({ step, kernels, passMs, dispatches: pass.length });
  }
  roofline.destroy();
  const { copyMs, multiplyMs, smallestMs } = mediansOf(rooflines);
  return {
    copyBytesPerSecond: (1000 * roofline.copyBytes) / copyMs,
    multiplyFlopsPerSecond: (1000 * roofline.multiplyFlops) / multiplyMs,
    /** Time of a dispatch that does next to nothing. */
    dispatchMs: smallestMs,
    steps,
  };
}

function kernelTime(listener: GpuListener, group: readonly ObservedDispatch[], ms: number, step: StepCase): KernelTime {
  const [first] = group;
  const pipeline = first && listener.pipelines.get(first.pipeline);
  if (!first || !pipeline) throw new Error("a dispatch of an unknown pipeline");
  const cost = costOf(pipeline, listener.boundBytes(first.bindGroup), shapeOf(step));
  const { name: kernel, constants } = pipeline;
  return { kernel, class: classOf(pipeline), constants, dispatches: group.length, ms, cost };
}

function shapeOf({ kind, rows, context }: StepCase): StepShape {
  return kind === "decode"
    ? { rows, samples: rows, context: context + 1, cachedPositions: rows * (context + 1) }
    : { rows, samples: 1, context: (rows + 1) / 2, cachedPositions: rows };
}

async function runStep(engine: ChorusEngine, { kind, rows, context }: StepCase): Promise<void> {
  const [sequences, promptTokens] = kind === "decode" ? [rows, context] : [1, rows];
  const prompt = Array.from({ length: sequences }, (_, s) =>
    Array.from({ length: promptTokens }, (__, t) => (31 * s + 7 * t) % (engine.model.vocabSize - 1)),
  );
  let lastRows = 0;
  const stop = engine.on("step", (report) => {
    lastRows = report.rows;
  });
  // All prompts fit one step; the next one decodes.
  const max_tokens = kind === "decode" ? 2 : 1;
  await engine.completions.create({ prompt, max_tokens, ignore_eos: true, temperature: 0 });
  stop();
  if (lastRows !== rows) throw new Error(`the last step has ${lastRows} rows, not ${rows}`);
}

function byPipeline(pass: readonly ObservedDispatch[]): ObservedDispatch[][] {
  const groups = new Map<GPUComputePipeline, ObservedDispatch[]>();
  for (const dispatch of pass) {
    const group = groups.get(dispatch.pipeline);
    if (group) group.push(dispatch);
    else groups.set(dispatch.pipeline, [dispatch]);
  }
  return [...groups.values()];
}

/** Returns the milliseconds of each work in each round. There is at least one round. The works alternate. */
async function interleavedMs(
  device: GPUDevice,
  works: readonly (readonly ObservedDispatch[])[],
  { rounds, mostMs }: Pick<KernelRun, "rounds" | "mostMs">,
  onProgress: (share: number) => void,
): Promise<number[][]> {
  const startMs = performance.now();
  const repeats: number[] = [];
  for (const work of works) {
    await submitMs(device, work, 1);
    let count = 1;
    while (count < MAX_REPEATS && (await submitMs(device, work, count)) < SHORTEST_SUBMIT_MS) count *= 2;
    repeats.push(count);
  }
  const times = works.map((): number[] => []);
  for (let round = 0; round < rounds; round++) {
    if (round > 0 && performance.now() - startMs > mostMs) break;
    onProgress(round / rounds);
    for (const [i, work] of works.entries()) {
      const count = repeats[i] ?? 1;
      times[i]?.push((await submitMs(device, work, count)) / count);
    }
  }
  return times;
}
