import { resultsBySequence, type StepResult } from "../../engine/runner.ts";
import type { StepPlan } from "../../engine/step-plan.ts";
import { byteSize } from "../../protocol/byte-size.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { capsOf, type Graph } from "../../models/graph.ts";
import type { LoadOptions, LoadedRunner } from "../backend.ts";
import type { IntegerDots } from "./integer-dots.ts";
import type { DeltaNetKernels } from "./kernels/delta-net.ts";
import { assembleKernels } from "./kernels/kernels.ts";
import { ModelPlan } from "./model-plan.ts";
import { StepWriter } from "./step-writer.ts";
import { TaskQueue } from "./task-queue.ts";
import { ThreadFailure } from "./program/meeting.ts";
import { chooseThreads } from "./threads/choose-threads.ts";
import type { OpenHelper } from "./threads/helper-thread.ts";
import type { SharedPlan } from "./threads/thread-body.ts";
import { ThreadPool } from "./threads/thread-pool.ts";

/** The number of threads, and what opens the others. */
export interface CpuThreads {
  /** Most threads, the engine's own included. */
  readonly most: number;
  /** Null where other threads are impossible. */
  readonly openHelper: OpenHelper | null;
}

interface PendingStep {
  readonly plan: StepPlan;
  readonly resolve: (result: StepResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Computes steps of a model in WebAssembly, on the calling thread and its helpers: each step in a task of its own. */
export class CpuRunner implements LoadedRunner {
  readonly adapterName: string;
  readonly weightBytes: number;
  readonly kernelNotes: readonly string[];
  readonly #pool: ThreadPool;
  readonly #writer: StepWriter;
  /** Logits of the last step's samples. */
  readonly logits: readonly Float32Array[];
  readonly #pending: PendingStep[] = [];
  readonly #tasks = new TaskQueue();
  /** Steps change states in place, so they can't be computed twice. */
  readonly #hasStates: boolean;
  #isRunning = false;
  #isDisposed = false;

  private constructor(
    pool: ThreadPool,
    writer: StepWriter,
    { weightBytes, logits, kernelNotes }: Pick<CpuRunner, "weightBytes" | "logits" | "kernelNotes">,
    hasStates: boolean,
  ) {
    this.#hasStates = hasStates;
    this.logits = logits;
    this.#pool = pool;
    this.#writer = writer;
    this.weightBytes = weightBytes;
    this.kernelNotes = kernelNotes;
    this.adapterName = `CPU, ${pool.threads} thread${pool.threads === 1 ? "" : "s"}`;
  }

  /** @throws ChorusError out_of_memory; invalid_value of cpuThreads if not all of that many start */
  static async create(
    {
      weights,
      engine,
      integerDots,
      onKernel,
    }: Pick<LoadOptions, "weights" | "engine" | "onKernel"> & { readonly integerDots: IntegerDots },
    { most, openHelper }: CpuThreads,
  ): Promise<CpuRunner> {
    const { model } = weights;
    const maxThreads = openHelper === null ? 1 : (engine.cpuThreads ?? most);
    const plan = new ModelPlan(model, engine, maxThreads);
    const limits = { isShared: maxThreads > 1, pages: plan.pages };
    const memory = openMemory(limits);
    const { numHeads, numKvHeads, headDim } = model.shape;
    const kernels = assembleKernels({
      math: engine.cpuMath,
      layouts: plan.layouts,
      activationDtype: engine.activationDtype,
      integerDots,
      cache: plan.cache,
      rotarySize: headDim,
      queriesPerKey: numHeads / numKvHeads,
      ...capsOf(model.graph),
      deltaNet: deltaNetOf(model.graph),
      memory: limits,
    });
    const { step, sampler, sync, cache, scratch } = plan;
    const shared: SharedPlan = {
      module: await WebAssembly.compile(kernels),
      memory,
      thread: { program: plan.graph.program, step, cache, scratch },
      sampler,
      sync,
    };
    onKernel?.(1, 1);
    await plan.fill(memory.buffer, weights);
    const threads =
      engine.cpuThreads === null && openHelper !== null
        ? await chooseThreads(shared, maxThreads, openHelper)
        : maxThreads;
    const open = (number: number) => ThreadPool.open(shared, { threads: number, openHelper: openHelper ?? noHelper });
    const pool = await open(threads).catch((cause: unknown) => {
      if (!(cause instanceof ThreadFailure)) throw cause;
      if (engine.cpuThreads === null) return open(1); // as after a trial whose helpers don't start
      throw tooManyThreads(threads, cause);
    });
    const { address, stride } = plan.graph.logits;
    const logits = Array.from(
      { length: step.maxSamples },
      (_, i) => new Float32Array(memory.buffer, address + i * stride, model.shape.vocabSize),
    );
    const { weightBytes } = plan;
    const kernelNotes = describeKernels(engine, pool.threads, maxThreads);
    const hasStates = step.numStates > 0;
    const writer = new StepWriter(memory.buffer, step, sampler);
    return new CpuRunner(pool, writer, { weightBytes, logits, kernelNotes }, hasStates);
  }

  submit(plan: StepPlan): Promise<StepResult> {
    return new Promise((resolve, reject) => {
      if (this.#isDisposed) throw disposed();
      this.#pending.push({ plan, resolve, reject });
      if (!this.#isRunning) void this.#runPending();
    });
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const { reject } of this.#pending.splice(0)) reject(disposed());
    this.#tasks.close();
    void this.#pool.close();
  }

  async #runPending(): Promise<void> {
    this.#isRunning = true;
    for (;;) {
      await this.#tasks.next();
      const next = this.#pending.shift();
      if (next === undefined) break;
      try {
        this.#writer.write(next.plan);
        const { failure } = this.#pool;
        this.#pool.run();
        if (this.#hasStates && this.#pool.failure !== failure) throw statesLost(this.#pool.failure);
        const sequences = resultsBySequence(next.plan, this.#writer.results(next.plan.samples));
        next.resolve({ sequences, gpuMs: null });
      } catch (error) {
        next.reject(error);
      }
    }
    this.#isRunning = false;
  }
}

function describeKernels(
  { activationDtype, cpuMath, cpuThreads }: Pick<ResolvedEngineConfig, "activationDtype" | "cpuMath" | "cpuThreads">,
  threads: number,
  most: number,
): readonly string[] {
  const math =
    cpuMath === "fastest" ? "fused multiply-add (the processor's)" : "products rounded before they are added";
  const why =
    cpuThreads === null && most > 1 ? `the fastest number in a trial of up to ${most}` : "as many as there may be";
  return [
    `matmul kernel: WebAssembly over panels of the weights, ${math} (cpuMath ${cpuMath})`,
    ...(activationDtype === "int8" ? ["quantised weights: multiplied with activations in integers of 8 bits"] : []),
    `attention kernel: WebAssembly over the cache's blocks, shared by ${threads} threads (${why})`,
  ];
}

function openMemory({ isShared, pages }: { isShared: boolean; pages: number }): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: pages, maximum: pages, shared: isShared });
  } catch (cause) {
    const size = byteSize(pages * 2 ** 16);
    const message = `This browser can't give this model and its cache the ${size} of memory that they take. A smaller dtype, kvCacheBytes or maxNumSeqs takes less.`;
    throw new ChorusError("out_of_memory", message, null, { cause });
  }
}

function tooManyThreads(threads: number, cause: ThreadFailure): ChorusError {
  const message = `Of the ${threads} threads (cpuThreads) not all have started: ${cause.message}. Ask for fewer, or leave cpuThreads null: then as many start as are fastest.`;
  return new ChorusError("invalid_value", message, "cpuThreads", { cause });
}

function deltaNetOf({ operations }: Graph): DeltaNetKernels | null {
  const net = operations.find(({ type }) => type === "deltaNet");
  return net?.type === "deltaNet" ? { ...net, rateForm: net.rate.form } : null;
}

function statesLost(reason: string | null): ChorusError {
  return new ChorusError("device_lost", `A thread has failed while it changed the states of sequences: ${reason}.`);
}

function disposed(): ChorusError {
  return new ChorusError("engine_disposed", "The engine was disposed of.");
}

function noHelper(): never {
  throw new Error("there are no other threads here");
}
