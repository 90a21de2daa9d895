import { MAX_TOP_CANDIDATES } from "../../engine/sampling/sampling-params.ts";
import type { DrawNeeds } from "../../engine/step-plan.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { CommonDraws, DrawKind } from "../backend.ts";
import { maxSequenceLength } from "../../engine/scheduling/admission.ts";
import { maxSamples } from "../../engine/scheduling/scheduler-config.ts";
import { normsAreFused } from "./activations.ts";
import { variantOf, type Dispatch, type KernelConstants, type KernelVariant } from "./kernel.ts";
import type { KernelStyle } from "./kernel-style.ts";
import { processLogits } from "./kernels/process-logits.ts";
import { samplePlain } from "./kernels/sample-plain.ts";
import { BINS, sample } from "./kernels/sample.ts";
import { sumLogits } from "./kernels/sum-logits.ts";
import { topLogprobs } from "./kernels/top-logprobs.ts";
import { Rank, type LaterPipeline, type LaterPipelines } from "./later-pipelines.ts";
import type { ModelContext } from "./operations/operations.ts";
import { strideOf } from "./padding.ts";
import type { SampleKinds, StepBuffer, StepShape } from "./step-buffer.ts";

/** One or two subgroups: more lanes only take turns there, and each word of workgroup memory takes time to compile. */
const PLAIN_LANES = 8;
/** Logits of a part: see shaders/lib/logit-part.wgsl. */
export const PART_TOKENS = 32;

/** A kernel that only some sequences need, and wait for. */
class LaterDispatch {
  readonly #later: LaterPipeline;
  readonly #name: string;
  /** Whether such samples need it. */
  readonly isNeeded: (kinds: SampleKinds) => boolean;
  /** Null until it is compiled. */
  dispatch: Dispatch | null = null;
  /** Whether it draws rightly, once that is known. */
  isReady = false;

  /** @param isRight draws with it */
  constructor(
    pipelines: LaterPipelines,
    [variant, rank]: readonly [KernelVariant, Rank],
    isNeeded: LaterDispatch["isNeeded"],
    rest: Omit<Dispatch, "pipeline">,
    isRight: () => Promise<boolean>,
  ) {
    this.#later = pipelines.add(variant, rank, (pipeline) => {
      this.dispatch = { ...rest, pipeline };
      return isRight();
    });
    this.#name = variant.kernel.name;
    this.isNeeded = isNeeded;
    this.isUsable().then(
      (isReady) => (this.isReady = isReady),
      () => undefined,
    );
  }

  hurry(): void {
    this.#later.hurry();
  }

  async isUsable(): Promise<boolean> {
    return (await this.#later.ready) !== null;
  }

  /** @throws ChorusError kernel_refused */
  async wait(): Promise<void> {
    this.hurry();
    if (await this.isUsable()) return;
    const message = `The kernel ${this.#name} draws wrong tokens on this adapter, so it is not used. Backend "cpu" computes this.`;
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
    const other = new LaterDispatch(
      later,
      [variantOf(sample, { ...constants, ...own }), Rank.draws],
      ({ anyOther }) => anyOther,
      {
        name: "sample",
        bindGroup: compiler.bind(sample, { ...read, ...written, bins }),
        workgroups,
      },
      () => isRight("filters"),
    );
    const rules = { MAX_LENGTH, RULE_WORDS: ruleShape.words };
    const process = new LaterDispatch(
      later,
      [variantOf(processLogits, { ...constants, ...rules }), Rank.draws],
      ({ anyRules }) => anyRules,
      {
        name: "process logits",
        bindGroup: compiler.bind(processLogits, { ...read, history, rules: ruleTable, masks, counts, processed }),
        workgroups,
      },
      async () => {
        other.hurry();
        return (await other.isUsable()) && isRight("rules");
      },
    );
    const shape = { ...constants, MAX_TOP: MAX_TOP_CANDIDATES, PROCESSED_LOGPROBS };
    const reportTop = new LaterDispatch(
      later,
      [variantOf(topLogprobs, shape), Rank.logprobs],
      ({ maxTop }) => maxTop > 0,
      {
        name: "top logprobs",
        bindGroup: compiler.bind(topLogprobs, { ...read, top }),
        workgroups,
      },
      () => isRight("top"),
    );
    // A software adapter compiles one after the other, and these take longest: they wait for a request that needs them.
    if (!isPlain) {
      const { haveFilters, haveRules } = draws;
      if (haveFilters || haveRules || PROCESSED_LOGPROBS) other.hurry();
      if (haveRules) process.hurry();
    }

    const [pipeline, ...sum] = await Promise.all([
      compiler.pipeline(samplePlain, { ...constants, MAX_LENGTH }),
      ...(normsAreFused({ style, ...engine }) ? [] : [sumDispatch(model, constants)]),
    ]);
    const bindGroup = compiler.bind(samplePlain, { logits, samples, logit_parts: logitParts, ...written });
    const plain = { name: "sample plain", pipeline, bindGroup, workgroups };
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

/** Returns the dispatch that summarises logits, unless the head does so itself. */
async function sumDispatch(
  { compiler, step: { samples }, activations: { logits, logitParts } }: ModelContext,
  constants: KernelConstants<typeof sumLogits>,
): Promise<Dispatch> {
  const numParts = Math.ceil(Number(constants.VOCABULARY) / PART_TOKENS);
  return {
    name: "sum logits",
    pipeline: await compiler.pipeline(sumLogits, constants),
    bindGroup: compiler.bind(sumLogits, { logits, samples, logit_parts: logitParts }),
    workgroups: (size) => [Math.ceil(numParts / Number(constants.LANES)), size.samples],
  };
}

function fail(): never {
  throw new Error("a step begins before its kernels are compiled");
}
