// Measures a step's costs besides its computations: recording, submitting, and waiting for results. Uses dispatches that do
// next to nothing, as many as in a small model's step.

import { medianOf, mediansOf, percentileOf } from "../statistics.ts";
import copyCode from "./roofline-copy.wgsl?raw";

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
  const bench = await SubmitBench.create(device);
  await bench.round(); // warm up
  const startMs = performance.now();
  const figures = [await bench.round()];
  while (figures.length < rounds && performance.now() - startMs <= mostMs) figures.push(await bench.round());
  bench.destroy();
  return { dispatches: DISPATCHES, ...mediansOf(figures) };
}

class SubmitBench {
  readonly #device: GPUDevice;
  readonly #pipeline: GPUComputePipeline;
  readonly #bindGroup: GPUBindGroup;
  readonly #result: GPUBuffer;
  /** One more than may run ahead. */
  readonly #targets: readonly GPUBuffer[];
  readonly #buffers: readonly GPUBuffer[];

  private constructor(device: GPUDevice, pipeline: GPUComputePipeline) {
    const buffer = (usage: number) => device.createBuffer({ size: RESULT_BYTES, usage });
    const values = buffer(GPUBufferUsage.STORAGE);
    this.#device = device;
    this.#pipeline = pipeline;
    this.#result = buffer(GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC);
    this.#targets = DEPTHS.map(() => buffer(GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST));
    this.#buffers = [values, this.#result, ...this.#targets];
    this.#bindGroup = device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [values, this.#result].map((bound, binding) => ({ binding, resource: { buffer: bound } })),
    });
  }

  static async create(device: GPUDevice): Promise<SubmitBench> {
    const module = device.createShaderModule({ code: copyCode });
    return new SubmitBench(device, await device.createComputePipelineAsync({ layout: "auto", compute: { module } }));
  }

  destroy(): void {
    for (const buffer of this.#buffers) buffer.destroy();
  }

  async round() {
    const { queue } = this.#device;
    const recordMs = (dispatches: number) => {
      const startMs = performance.now();
      const recorded = Array.from({ length: RECORDED }, () => this.#record(dispatches));
      return { recorded, ms: (performance.now() - startMs) / RECORDED };
    };
    const pass = recordMs(0);
    const step = recordMs(DISPATCHES);
    const startMs = performance.now();
    for (const commands of step.recorded) queue.submit([commands]);
    const submitMs = (performance.now() - startMs) / RECORDED;
    await queue.onSubmittedWorkDone();
    const ahead: { readonly depth: number; readonly stepMs: number }[] = [];
    for (const depth of DEPTHS) ahead.push({ depth, stepMs: await this.#stepMs(depth) });
    return {
      /** JavaScript time of recording one dispatch, of recording a pass without any, and of submitting a step to the queue. */
      recordDispatchMs: (step.ms - pass.ms) / DISPATCHES,
      recordPassMs: pass.ms,
      submitMs,
      /** Time of one dispatch among many in a pass, each of which waits for the one before. */
      dispatchMs: (await this.#passMs(CHAIN)) / CHAIN,
      /** From the submit of one dispatch to its result in JavaScript, and to the queue's completion. */
      readBack: await latencyOf(() => this.#step(0, 1)),
      workDone: await latencyOf(() => {
        queue.submit([this.#record(1)]);
        return queue.onSubmittedWorkDone();
      }),
      /** Time per step by the number of steps that run ahead of the awaited one. */
      ahead,
    };
  }

  #record(dispatches: number, target?: GPUBuffer): GPUCommandBuffer {
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (let i = 0; i < dispatches; i++) {
      pass.setPipeline(this.#pipeline);
      pass.setBindGroup(0, this.#bindGroup);
      pass.dispatchWorkgroups(1);
    }
    pass.end();
    if (target) encoder.copyBufferToBuffer(this.#result, 0, target, 0, RESULT_BYTES);
    return encoder.finish();
  }

  async #passMs(dispatches: number): Promise<number> {
    const startMs = performance.now();
    this.#device.queue.submit([this.#record(dispatches)]);
    await this.#device.queue.onSubmittedWorkDone();
    return performance.now() - startMs;
  }

  /** Submits a step, and reads its result back into one of the targets. */
  async #step(place: number, dispatches: number): Promise<void> {
    const target = this.#targets[place % this.#targets.length];
    if (!target) return;
    this.#device.queue.submit([this.#record(dispatches, target)]);
    await target.mapAsync(GPUMapMode.READ);
    target.unmap();
  }

  /** Returns the time per step if, as in an engine, a step is submitted once the one `depth` + 1 before has its result. */
  async #stepMs(depth: number): Promise<number> {
    const startMs = performance.now();
    const inFlight: Promise<void>[] = [];
    for (let i = 0; i < STEPS; i++) {
      if (inFlight.length > depth) await inFlight.shift();
      inFlight.push(this.#step(i, DISPATCHES));
    }
    await Promise.all(inFlight);
    return (performance.now() - startMs) / STEPS;
  }
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
