import type { RowTiles } from "../../engine/row-tiles.ts";
import { resultsBySequence, type StepResult } from "../../engine/runner.ts";
import { maxSequenceLength } from "../../engine/scheduling/admission.ts";
import { MAX_TOP_CANDIDATES } from "../../engine/sampling/sampling-params.ts";
import type { DrawNeeds, StepPlan } from "../../engine/step-plan.ts";
import { withoutLayers } from "../../models/few-layers.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { KernelTime } from "../../protocol/reports.ts";
import { MAX_RUN_AHEAD } from "../../protocol/step-sizes.ts";
import type { CheckedKernels, CommonDraws, DrawKind, LoadOptions, LoadedRunner } from "../backend.ts";
import { readSample } from "../sample-record.ts";
import { stepLimits } from "../step-limits.ts";
import { Activations } from "./activations.ts";
import { promptPlan } from "./attention-tuning.ts";
import { Arena } from "./arena.ts";
import type { CompiledGraph } from "./compiled-graph.ts";
import type { OpenedDevice } from "./device.ts";
import { withErrorScopes } from "./error-scopes.ts";
import { flushesHalves } from "./flushed-halves.ts";
import { encode, KernelCompiler, sizeOf, type Dispatch } from "./kernel.ts";
import { KernelTimes, spanMs } from "./kernel-times.ts";
import { kernelTraits, type KernelStyle } from "./kernel-style.ts";
import { LaterPipelines } from "./later-pipelines.ts";
import { loadGraph, type LoadedGraph } from "./load-graph.ts";
import { ModelBuffers } from "./model-buffers.ts";
import type { ModelContext } from "./operations/operations.ts";
import { readAfter } from "./read-after.ts";
import { ReadbackRing } from "./readback.ts";
import { Sampler } from "./sampler.ts";
import { StepBuffer } from "./step-buffer.ts";
import { elapsedMs, STAMPS_BYTES, Timestamps } from "./timestamps.ts";
import { WeightUploader } from "./weight-uploader.ts";

/** Bytes of a sampled token: its id and its log-probability. */
const SAMPLED_BYTES = 8;
const TOP_BYTES = SAMPLED_BYTES * MAX_TOP_CANDIDATES;
/** Most checks of draws at once, each with a step in flight. */
const MAX_CHECKS = 3;
/** Enough for each kernel of a step. Whoever gets their blocks writes over their keys and values. */
const MAX_REHEARSED_ROWS = 32;
const NO_DRAWS: CommonDraws = { haveFilters: false, haveRules: false };

/** Computes steps of a model on the GPU. Each step is one command buffer and one submit, and creates no GPU objects. */
export class GpuRunner implements LoadedRunner {
  readonly #model: ModelContext;
  readonly #graph: CompiledGraph;
  readonly #sampler: Sampler;
  readonly #compilePart: LoadedGraph["compilePart"];
  readonly #readback: ReadbackRing;
  /** null if the adapter has no timestamp queries. */
  readonly #timestamps: Timestamps | null;
  readonly #kernelTimes: KernelTimes | null;
  readonly activations: Activations;
  readonly weightBytes: number;
  readonly adapterName: string;
  readonly kernelNotes: readonly string[];
  readonly rowTiles: RowTiles;
  readonly kernels: CheckedKernels;
  readonly timeKernels: ((isRequested: boolean) => Promise<boolean>) | null;

  private constructor(
    adapterName: string,
    model: ModelContext,
    { compiled, kernelNotes, rowTiles, compilePart }: LoadedGraph,
    sampler: Sampler,
    maxStepsInFlight: number,
  ) {
    const { device, poller, arena, compiler, activations, buffers } = model;
    this.adapterName = adapterName;
    this.weightBytes = buffers.weightBytes;
    this.kernelNotes = kernelNotes;
    this.rowTiles = rowTiles;
    this.kernels = {
      id: () => compiler.id(),
      part: async (partOfGraph) => {
        const part = await compilePart(partOfGraph);
        return { submit: (plan) => this.#submit(plan, part), missing: (needs) => this.missing(needs) };
      },
    };
    this.#model = model;
    this.#graph = compiled;
    this.#compilePart = compilePart;
    this.#sampler = sampler;
    this.activations = activations;
    const bytes = STAMPS_BYTES + activations.sampled.size + sampler.top.size;
    this.#readback = new ReadbackRing(arena, poller, { bytes, depth: maxStepsInFlight });
    this.#timestamps = Timestamps.create(device, arena, maxStepsInFlight);
    const kernelTimes = this.#timestamps && new KernelTimes(device, poller);
    this.#kernelTimes = kernelTimes;
    this.timeKernels = kernelTimes && ((isRequested) => kernelTimes.turn(isRequested));
  }

  /**
   * @param isFlushing whether the device takes subnormal halves for zero [it is asked]
   * @throws ChorusError out_of_memory if the GPU can't hold all of it
   */
  static async create({
    opened,
    isFlushing = flushesHalves(opened),
    ...options
  }: LoadOptions & { opened: OpenedDevice; isFlushing?: Promise<boolean> | undefined }): Promise<GpuRunner> {
    const { adapterName, device } = opened;
    const { kernels = "default", draws = NO_DRAWS, maxStepsInFlight = MAX_RUN_AHEAD + 1 } = options;
    const traits = kernelTraits(opened, kernels);
    const arena = new Arena(device);
    let resolveMade = (_runner: GpuRunner): void => {};
    const made = new Promise<GpuRunner>((resolve) => (resolveMade = resolve));
    const make = async () => {
      const { model, uploader } = createBuffers(opened, await isFlushing, arena, traits.style, options);
      const ending = new AbortController();
      const { isCareful } = model.compiler.trials;
      const begin = async <T>(part: Promise<T>): Promise<readonly [Promise<T>]> => {
        part.catch((error: unknown) => ending.abort(error));
        // So that only the kernel that is proved or measured can be what loses the device.
        if (isCareful) await Promise.allSettled([part]).then(() => readAfter(model, [], sizeOf(0), []));
        if (isCareful) ending.signal.throwIfAborted();
        return [part];
      };
      // Kernels compile while weights load.
      const [filling] = await begin(uploader.fill(ending.signal).finally(() => uploader.destroy()));
      const areRight = async (kind: DrawKind) => (await made).#areRight(kind, options);
      const [preparing] = await begin(Sampler.prepare(model, traits.style, draws, areRight));
      const [loading] = await begin(loadGraph(model, traits, options, adapterName, filling));
      const parts = [loading, preparing, filling] as const;
      // Parts that are still loading use buffers, which are destroyed if this throws.
      await Promise.allSettled(parts);
      ending.signal.throwIfAborted();
      const [graph, sampler] = await Promise.all(parts);
      const runner = new GpuRunner(adapterName, model, graph, sampler, maxStepsInFlight + MAX_CHECKS);
      if (isCareful) await runner.#rehearse();
      resolveMade(runner);
      return runner;
    };
    try {
      return await withErrorScopes(device, make);
    } catch (error) {
      arena.destroy();
      throw error;
    }
  }

  /** Bytes of GPU memory held. */
  get bytes(): number {
    return this.#model.arena.bytes + (this.#kernelTimes?.bytes ?? 0);
  }

  submit(plan: StepPlan): Promise<StepResult> {
    return this.#submit(plan, this.#graph);
  }

  missing(needs: DrawNeeds): Promise<void> | null {
    return this.#sampler.missing(needs);
  }

  #submit(plan: StepPlan, graph: CompiledGraph): Promise<StepResult> {
    const { device, later, step } = this.#model;
    if (later.isStopped) return Promise.reject(new ChorusError("engine_disposed", "The engine was disposed of."));
    const shape = step.write(device.queue, plan);
    const { samples, maxTop } = shape;
    const forEach = (take: (dispatch: Dispatch) => void) => {
      graph.forEach(shape, take);
      this.#sampler.forEach(shape, take);
    };
    const encoder = device.createCommandEncoder({ label: "step" });
    const readKernels = this.#kernelTimes?.isDue() ? this.#kernelTimes.record(encoder, forEach, shape) : null;
    const timed = readKernels ? undefined : this.#timestamps?.nextPass();
    if (!readKernels) {
      const pass = encoder.beginComputePass(timed?.descriptor ?? { label: "step" });
      forEach((dispatch) => encode(pass, dispatch, shape));
      pass.end();
      timed?.resolve(encoder);
    }
    // A step without samples reads one cell back, to learn when it is done.
    const sampled = { buffer: this.activations.sampled, offset: 0, bytes: SAMPLED_BYTES * Math.max(1, samples) };
    const top = { buffer: this.#sampler.top, offset: 0, bytes: TOP_BYTES * samples };
    const parts = [...(timed ? [timed.part] : []), sampled, ...(maxTop > 0 ? [top] : [])];
    const read = this.#readback.record(encoder, parts);
    device.queue.submit([encoder.finish()]);
    const result = this.#result(read, plan, timed !== undefined);
    return readKernels ? withKernels(result, readKernels()) : result;
  }

  /** Runs each kernel of a first step by itself: the one with which the device is lost, or gets stuck, is to blame. */
  async #rehearse(): Promise<void> {
    const { compiler, device, engine, step } = this.#model;
    const numRows = Math.min(MAX_REHEARSED_ROWS, step.maxRows, maxSequenceLength(engine));
    const size = step.write(device.queue, promptPlan(numRows, engine.blockSize));
    const dispatches = new Map<GPUComputePipeline, Dispatch>();
    for (const part of [this.#graph, this.#sampler]) part.forEach(size, (one) => dispatches.set(one.pipeline, one));
    const run = (dispatch: Dispatch) => readAfter(this.#model, [dispatch], size, []);
    for (const [{ label }, dispatch] of dispatches) await compiler.prove(label, () => run(dispatch));
  }

  /** Draws from the logits of the embedding, which read no cache. */
  async #areRight(kind: DrawKind, { checkDraws, engine }: Omit<LoadOptions, "tuning">): Promise<boolean> {
    const graph = withoutLayers(this.#model.graph);
    if (!checkDraws || graph === null) return true;
    const part = await this.#compilePart(graph);
    return checkDraws({ submit: (plan) => this.#submit(plan, part) }, engine.maxNumSeqs, kind);
  }

  complete(when?: Promise<unknown>): Promise<readonly string[]> {
    return this.#model.later.start(when);
  }

  recheck(): Promise<readonly string[]> {
    return this.#model.later.recheck();
  }

  dispose(): void {
    this.#model.later.stop();
    this.#kernelTimes?.destroy();
    this.#model.arena.destroy();
  }

  async #result(read: () => Promise<Uint32Array>, plan: StepPlan, isTimed: boolean): Promise<StepResult> {
    let words: Uint32Array;
    try {
      words = await read();
    } catch (error) {
      throw new ChorusError("device_lost", "The GPU was lost while it computed a step.", null, { cause: error });
    }
    const gpuMs = isTimed ? elapsedMs(words) : null;
    const sampled = words.subarray(isTimed ? STAMPS_BYTES / words.BYTES_PER_ELEMENT : 0);
    const topStart = 2 * Math.max(1, plan.samples.length);
    const tokens = plan.samples.map((sample, i) =>
      readSample(sampled, sample, { at: 2 * i, topAt: topStart + 2 * i * MAX_TOP_CANDIDATES, numTop: sample.numTop }),
    );
    return { sequences: resultsBySequence(plan, tokens), gpuMs };
  }
}

/** Adds the times of the step's kernels. They are read with its result: if that fails, they don't matter. */
async function withKernels(result: Promise<StepResult>, reading: Promise<readonly KernelTime[] | null>) {
  const [step, times] = await Promise.all([result, reading.catch(() => null)]);
  return { ...step, kernels: times ?? [], gpuMs: times && spanMs(times) };
}

function createBuffers(
  { device, poller, hasFewRegisters = false, ...opened }: OpenedDevice,
  isFlushing: boolean,
  arena: Arena,
  style: KernelStyle,
  { weights, engine, ...options }: LoadOptions,
): { readonly model: ModelContext; readonly uploader: WeightUploader } {
  const { shape, graph } = weights.model;
  const { vocabSize = shape.vocabSize } = options;
  const limits = { ...stepLimits(engine), maxSlots: engine.maxNumSeqs + 1 }; // the last one is for checks
  const { logprobsMode } = engine;
  const step = new StepBuffer(arena, { ...limits, vocabSize, logprobsMode, hasStates: shape.states !== undefined });
  const activations = new Activations(arena, shape, graph, {
    ...limits,
    style,
    activationDtype: engine.activationDtype,
  });
  const compiler = new KernelCompiler(device, { ...options, ...opened, flushesHalves: isFlushing });
  const later = new LaterPipelines(compiler);
  const packsFloats = style === "plain"; // also if a GPU's own kernels were wrong: this is one kernel less to trust
  const uploader = new WeightUploader(device, arena, compiler, { packsFloats });
  try {
    const buffers = new ModelBuffers(uploader, arena, weights, engine);
    const parts = { compiler, later, arena, graph, shape, vocabSize, engine, buffers, activations, step };
    return { model: { device, poller, hasFewRegisters, ...parts }, uploader };
  } catch (error) {
    uploader.destroy(); // the arena does not own its buffers
    throw error;
  }
}
