// Measures a step's costs besides its computations: recording, submitting, and waiting for results. Uses dispatches that do
// next to nothing, as many as in a small model's step.

import { medianOf, mediansOf, percentileOf } from "../statistics.ts";
import type { ObservedDispatch } from "./gpu-listener.ts";
import { prepareRoofline, recordPass, submitMs } from "./roofline.ts";

export type SubmitCosts = Awaited<ReturnType<typeof measureSubmits>>;

/** GPT-2's step of five dispatches a layer has about as many. */
const DISPATCHES = 64;
/** Passes that are recorded between two readings of a coarse clock. */
const RECORDED = 64;
/** Dispatches of the pass that measures one: the submit is then a small part of it. */
const CHAIN = 4096;
const ROUND_TRIPS = 16;
const STEPS = 32;
const DEPTHS = [0, 1, 2, 3, 4];
const RESULT_BYTES = 256;

/** Measures in rounds, and returns medians. Ends early, after at least one round, if `mostMs` would be exceeded. */
export async function measureSubmits(device: GPUDevice, rounds: number, mostMs: number) {
  const roofline = await prepareRoofline(device, true);
  const targets = DEPTHS.map(() =>
    device.createBuffer({ size: RESULT_BYTES, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST }),
  );
  const bench = { device, work: [roofline.smallest], results: roofline.results, targets };
  await measureRound(bench); // warm up
  const startMs = performance.now();
  const figures = [await measureRound(bench)];
  while (figures.length < rounds && performance.now() - startMs <= mostMs) figures.push(await measureRound(bench));
  roofline.destroy();
  for (const target of targets) target.destroy();
  return { dispatches: DISPATCHES, ...mediansOf(figures) };
}

interface SubmitBench {
  readonly device: GPUDevice;
  /** One dispatch. */
  readonly work: readonly ObservedDispatch[];
  readonly results: GPUBuffer;
  /** One more than may run ahead. */
  readonly targets: readonly GPUBuffer[];
}

async function measureRound(bench: SubmitBench) {
  const { device, work } = bench;
  const { queue } = device;
  const recordMs = (dispatches: number) => {
    const startMs = performance.now();
    const recorded = Array.from({ length: RECORDED }, () => recordPass(device, work, dispatches));
    return { recorded, ms: (performance.now() - startMs) / RECORDED };
  };
  const pass = recordMs(0);
  const step = recordMs(DISPATCHES);
  const startMs = performance.now();
  for (const commands of step.recorded) queue.submit([commands]);
  const ms = (performance.now() - startMs) / RECORDED;
  await queue.onSubmittedWorkDone();
  const ahead: { readonly depth: number; readonly stepMs: number }[] = [];
  for (const depth of DEPTHS) ahead.push({ depth, stepMs: await stepMsAt(bench, depth) });
  return {
    /** JavaScript time of recording one dispatch, of recording a pass without any, and of submitting a step to the queue. */
    recordDispatchMs: (step.ms - pass.ms) / DISPATCHES,
    recordPassMs: pass.ms,
    submitMs: ms,
    /** Time of one dispatch among many in a pass, each of which waits for the one before. */
    dispatchMs: (await submitMs(device, work, CHAIN)) / CHAIN,
    /** From the submit of one dispatch to its result in JavaScript, and to the queue's completion. */
    readBack: await latencyOf(() => runStep(bench, 0, 1)),
    workDone: await latencyOf(() => submitMs(device, work, 1)),
    /** Time per step by the number of steps that run ahead of the awaited one. */
    ahead,
  };
}

/** Submits a step, and reads its result back into one of the targets. */
async function runStep({ device, work, results, targets }: SubmitBench, place: number, dispatches: number) {
  const target = targets[place % targets.length];
  if (!target) return;
  const copy = (encoder: GPUCommandEncoder) => encoder.copyBufferToBuffer(results, 0, target, 0, RESULT_BYTES);
  device.queue.submit([recordPass(device, work, dispatches, copy)]);
  await target.mapAsync(GPUMapMode.READ);
  target.unmap();
}

/** Returns the time per step if, as in an engine, a step is submitted once the one `depth` + 1 before has its result. */
async function stepMsAt(bench: SubmitBench, depth: number): Promise<number> {
  const startMs = performance.now();
  const inFlight: Promise<void>[] = [];
  for (let i = 0; i < STEPS; i++) {
    if (inFlight.length > depth) await inFlight.shift();
    inFlight.push(runStep(bench, i, DISPATCHES));
  }
  await Promise.all(inFlight);
  return (performance.now() - startMs) / STEPS;
}

async function latencyOf(act: () => Promise<unknown>) {
  const times: number[] = [];
  for (let i = 0; i < ROUND_TRIPS; i++) {
    const startMs = performance.now();
    await act();
    times.push(performance.now() - startMs);
  }
  return { medianMs: medianOf(times), p95Ms: percentileOf(times, 95) };
}
