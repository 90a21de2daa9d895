import { MAX_TOP_CANDIDATES } from "../../engine/sampling/sampling-params.ts";
import type { DrawNeeds } from "../../engine/step-plan.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { CommonDraws, DrawKind } from "../backend.ts";
import { maxSequenceLength } from "../../engine/scheduling/admission.ts";
import { maxSamples } from "../../engine/scheduling/scheduler-config.ts";
import { headSummarises } from "./activations.ts";
import type { Kernel } from "./define-kernel.ts";
import { variantOf, type Dispatch, type KernelBuffers, type KernelConstants, type StepSize } from "./kernel.ts";
import type { KernelStyle } from "./kernel-style.ts";
import { processLogits, sample, samplePlain, sumLogits, topLogprobs } from "./kernels/kernels.ts";
import { Rank, type LaterPipeline } from "./later-pipelines.ts";
import type { ModelContext } from "./operations/operations.ts";
import { strideOf } from "./padding.ts";
import type { SampleKinds, StepBuffer, StepShape } from "./step-buffer.ts";

/** One or two subgroups: more lanes only take turns there, and each word of workgroup memory takes time to compile. */
const PLAIN_LANES = 8;
/** Logits of a part: see shaders/lib/logit-part.wgsl. */
export const PART_TOKENS = 32;
/** Bins of a filter's histogram: see shaders/lib/filters.wgsl. */
export const BINS = 256;

/** A kernel that only some sequences need, and wait for. */
class LaterDispatch {
  readonly #later: LaterPipeline;
  /** Whether such samples need it. */
  readonly isNeeded: (kinds: SampleKinds) => boolean;
  /** Null until it is compiled. */
  dispatch: Dispatch | null = null;
  /** Whether it is compiled, and draws rightly. */
  isReady = false;

  /** @param add adds it to those that are compiled later, with what takes its pipeline before it is asked */
  constructor(
    isNeeded: LaterDispatch["isNeeded"],
    rest: Omit<Dispatch, "pipeline">,
    add: (take: (pipeline: GPUComputePipeline) => void) => LaterPipeline,
  ) {
    this.isNeeded = isNeeded;
    this.#later = add((pipeline) => (this.dispatch = { ...rest, pipeline }));
    this.#later.ready.then(
      (pipeline) => (this.isReady = pipeline !== null),
      () => undefined,
    );
    this.#later.onChange(() => (this.isReady = false));
  }

  hurry(): void {
    this.#later.hurry();
  }

  /** @throws ChorusError kernel_refused */
  async wait(): Promise<void> {
    this.hurry();
    await this.#later.ready;
    if (this.isReady) return;
    const message = `The kernel "${this.dispatch?.name}" draws wrongly on this adapter, so it is not used. Backend "cpu" draws so.`;
    throw new ChorusError("kernel_refused", message);
  }
}

/** Turns any model's logits into tokens: applies rules, draws, and finds the most likely tokens on request. */
export class Sampler {
  /** [samples, MAX_TOP_CANDIDATES] of (id, bits of the log-probability). */
  readonly top: GPUBuffer;
  readonly #step: StepBuffer;
  readonly #sum: readonly Dispatch[];
  readonly #plain: Dispatch;
  /** In the order in which they run. */
  readonly #later: readonly LaterDispatch[];

  private constructor(
    step: StepBuffer,
    top: GPUBuffer,
    sum: readonly Dispatch[],
    plain: Dispatch,
    later: readonly LaterDispatch[],
  ) {
    this.#step = step;
    this.top = top;
    this.#sum = sum;
    this.#plain = plain;
    this.#later = later;
  }

  /**
   * @param draws the parameters that most requests will have
   * @param isRight draws with a kernel that is compiled
   */
  static async prepare(
    model: ModelContext,
    style: KernelStyle,
    draws: CommonDraws,
    isRight: (kind: DrawKind) => Promise<boolean>,
  ): Promise<Sampler> {
    const { compiler, later, arena, engine, vocabSize, activations, step } = model;
    const { samples, history, rules: ruleTable, masks, ruleShape } = step;
    const { logits, logitParts, feedback, sampled } = activations;
    const isPlain = style === "plain";
    const STRIDE = strideOf(model.shape.vocabSize);
    const MAX_LENGTH = maxSequenceLength(engine);
    const numSamples = maxSamples(engine);
    const constants = { LANES: isPlain ? PLAIN_LANES : 256, VOCABULARY: vocabSize, STRIDE };
    // The mode is fixed for the engine's life, so the pipeline has no code for the other one.
    const PROCESSED_LOGPROBS = engine.logprobsMode === "processed_logprobs";
    const processed = arena.storage("processed logits", 4 * numSamples * STRIDE);
    const counts = arena.storage("token counts", 4 * numSamples * STRIDE);
    const top = arena.storage("top logprobs", 8 * numSamples * MAX_TOP_CANDIDATES);
    const read = { logits, processed, samples, logit_parts: logitParts };
    const workgroups: Dispatch["workgroups"] = (size) => [size.samples, 1];
    const written = { feedback, history, sampled };
    const bins = arena.storage("bins", isPlain ? 4 * BINS * numSamples : 0);
    const own = { MAX_LENGTH, PROCESSED_LOGPROBS, HISTOGRAM_IN_BUFFER: isPlain };
    const add = (
      name: string,
      [kernel, shape, buffers]: readonly [Kernel, KernelConstants, KernelBuffers],
      isNeeded: LaterDispatch["isNeeded"],
      [rank, ask]: readonly [Rank, () => Promise<boolean>],
    ) =>
      new LaterDispatch(isNeeded, { name, bindGroup: compiler.bind(kernel, buffers), workgroups }, (take) =>
        later.add(variantOf(kernel, shape), rank, async (pipeline) => {
          take(pipeline);
          return { known: 1, given: Number(await ask()) };
        }),
      );
    const other = add(
      "sample",
      [sample, { ...constants, ...own }, { ...read, ...written, bins }],
      ({ anyOther }) => anyOther,
      [Rank.draws, () => isRight("filters")],
    );
    const rules = { ...constants, MAX_LENGTH, RULE_WORDS: ruleShape.words };
    const process = add(
      "process logits",
      [processLogits, rules, { ...read, history, rules: ruleTable, masks, counts, processed }],
      ({ anyRules }) => anyRules,
      [Rank.draws, () => other.wait().then(() => isRight("rules"))],
    );
    const shape = { ...constants, MAX_TOP: MAX_TOP_CANDIDATES, PROCESSED_LOGPROBS };
    const reportTop = add("top logprobs", [topLogprobs, shape, { ...read, top }], ({ maxTop }) => maxTop > 0, [
      Rank.logprobs,
      () => isRight("top"),
    ]);
    // A software adapter compiles one after the other, and these take longest: they wait for a request that needs them.
    if (!isPlain && !compiler.trials.isCareful) {
      const { haveFilters, haveRules } = draws;
      if (haveFilters || haveRules || PROCESSED_LOGPROBS) other.hurry();
      if (haveRules) process.hurry();
    }

    const numParts = Math.ceil(vocabSize / PART_TOKENS);
    const summed = {
      name: "sum logits",
      kernel: sumLogits,
      constants,
      buffers: read,
      workgroups: (size: StepSize) => [Math.ceil(numParts / constants.LANES), size.samples] as const,
    };
    const [plain, ...sum] = await Promise.all([
      compiler.dispatch({
        name: "sample plain",
        kernel: samplePlain,
        constants: { ...constants, MAX_LENGTH },
        buffers: { ...read, ...written },
        workgroups,
      }),
      ...(headSummarises(model.graph, { style, ...engine }) ? [] : [compiler.dispatch(summed)]),
    ]);
    return new Sampler(step, top, sum, plain, [process, other, reportTop]);
  }

  /** Returns what a sequence must wait for; null for nothing. */
  missing(needs: DrawNeeds): Promise<void> | null {
    const kinds = this.#step.kindsOf([needs]);
    const missing = this.#later.filter((one) => !one.isReady && one.isNeeded(kinds));
    return missing.length === 0 ? null : Promise.all(missing.map((one) => one.wait())).then(() => undefined);
  }

  /** Takes a step's dispatches in their order; none if it has no samples. */
  forEach(shape: StepShape, take: (dispatch: Dispatch) => void): void {
    if (shape.samples === 0) return;
    this.#sum.forEach(take);
    if (shape.anyPlain) take(this.#plain);
    for (const later of this.#later) if (later.isNeeded(shape)) take(later.dispatch ?? fail());
  }
}

function fail(): never {
  throw new Error("a step begins before its kernels are compiled");
}
