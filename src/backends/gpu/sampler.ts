import { MAX_TOP_CANDIDATES } from "../../engine/sampling/sampling-params.ts";
import type { DrawNeeds } from "../../engine/step-plan.ts";
import type { LogprobsMode } from "../../protocol/config.ts";
import type { CommonDraws } from "../backend.ts";
import type { Arena } from "./arena.ts";
import { variantOf, type Dispatch, type KernelCompiler, type KernelVariant } from "./kernel.ts";
import { processLogits } from "./kernels/process-logits.ts";
import { samplePlain } from "./kernels/sample-plain.ts";
import { BINS, sample } from "./kernels/sample.ts";
import { sumLogits } from "./kernels/sum-logits.ts";
import { topLogprobs } from "./kernels/top-logprobs.ts";
import { Rank, type LaterPipeline, type LaterPipelines } from "./later-pipelines.ts";
import type { SampleKinds, StepBuffer, StepShape } from "./step-buffer.ts";

/** A subgroup or two: more lanes only take turns there, and each word of workgroup memory takes time to compile. */
const SOFTWARE_LANES = 8;
/** Logits of a part: see shaders/lib/logit-part.wgsl. */
export const PART_TOKENS = 32;

interface SamplerParts {
  readonly compiler: KernelCompiler;
  /** What a step without rules, filters and top log-probabilities can do without. */
  readonly later: LaterPipelines;
  readonly arena: Arena;
  readonly step: StepBuffer;
  /** Tokens that may be drawn. */
  readonly vocabSize: number;
  /** Floats from one row of logits to the next. */
  readonly logitStride: number;
  /** Tokens of a sequence. */
  readonly maxLength: number;
  readonly maxSamples: number;
  /** [samples, logitStride] */
  readonly logits: GPUBuffer;
  /** The summary of each 32 logits. On GPUs the head writes it. */
  readonly logitParts: GPUBuffer;
  /** The last id drawn in each slot. */
  readonly feedback: GPUBuffer;
  /** [samples] of (id, bits of the log-probability). */
  readonly sampled: GPUBuffer;
  readonly isSoftware: boolean;
  /** Which logits the log-probabilities of drawn tokens describe. A prompt's are always raw. */
  readonly logprobsMode: LogprobsMode;
  /** Those that most requests will have. */
  readonly draws: CommonDraws;
}

type LaterKernels = Readonly<Record<"process" | "other" | "reportTop", LaterDispatch>>;

/** A kernel that only some sequences need, and wait for. */
class LaterDispatch {
  readonly #later: LaterPipeline;
  /** Null until it is compiled. */
  dispatch: Dispatch | null = null;

  constructor(later: LaterPipeline, rest: Omit<Dispatch, "pipeline">) {
    this.#later = later;
    const take = (pipeline: GPUComputePipeline | null) => {
      if (pipeline) this.dispatch = { ...rest, pipeline };
    };
    later.ready.then(take, () => undefined);
  }

  hurry(): void {
    this.#later.hurry();
  }

  /** @throws ChorusError kernel_refused */
  async wait(): Promise<void> {
    this.hurry();
    await this.#later.ready;
  }
}

/** Turns any model's logits into tokens: applies rules, draws, and finds the most likely tokens on request. */
export class Sampler {
  /** [samples, MAX_TOP_CANDIDATES] of (id, bits of the log-probability). */
  readonly top: GPUBuffer;
  readonly #step: StepBuffer;
  readonly #sum: readonly Dispatch[];
  readonly #plain: Dispatch;
  readonly #later: LaterKernels;

  private constructor(
    step: StepBuffer,
    top: GPUBuffer,
    sum: readonly Dispatch[],
    plain: Dispatch,
    later: LaterKernels,
  ) {
    this.#step = step;
    this.top = top;
    this.#sum = sum;
    this.#plain = plain;
    this.#later = later;
  }

  static async prepare(parts: SamplerParts): Promise<Sampler> {
    const { compiler, arena, vocabSize, maxSamples, maxLength, logits, logitParts, feedback, sampled } = parts;
    const { later } = parts;
    const { samples, history, rules: ruleTable, masks, ruleShape } = parts.step;
    const STRIDE = parts.logitStride;
    const constants = { LANES: parts.isSoftware ? SOFTWARE_LANES : 256, VOCABULARY: vocabSize, STRIDE };
    // The mode is fixed for the engine's life, so the pipeline has no code for the other one.
    const PROCESSED_LOGPROBS = parts.logprobsMode === "processed_logprobs";
    const processed = arena.storage("processed logits", 4 * maxSamples * STRIDE);
    const counts = arena.storage("token counts", 4 * maxSamples * STRIDE);
    const top = arena.storage("top logprobs", 8 * maxSamples * MAX_TOP_CANDIDATES);
    const read = { logits, processed, samples, logit_parts: logitParts };
    const workgroups: Dispatch["workgroups"] = ({ samples: numSamples }) => [numSamples, 1];
    const written = { feedback, history, sampled };
    const laterOf = (variant: KernelVariant, rank: Rank, rest: Omit<Dispatch, "pipeline">) =>
      new LaterDispatch(later.add(variant, rank), rest);
    const bins = arena.storage("bins", parts.isSoftware ? 4 * BINS * maxSamples : 0);
    const own = { MAX_LENGTH: maxLength, PROCESSED_LOGPROBS, HISTOGRAM_IN_BUFFER: parts.isSoftware };
    const other = laterOf(variantOf(sample, { ...constants, ...own }), Rank.draws, {
      name: "sample",
      bindGroup: compiler.bind(sample, { ...read, ...written, bins }),
      workgroups,
    });
    const rules = { MAX_LENGTH: maxLength, RULE_WORDS: ruleShape.words };
    const process = laterOf(variantOf(processLogits, { ...constants, ...rules }), Rank.draws, {
      name: "process logits",
      bindGroup: compiler.bind(processLogits, { ...read, history, rules: ruleTable, masks, counts, processed }),
      workgroups,
    });
    const shape = { ...constants, MAX_TOP: MAX_TOP_CANDIDATES, PROCESSED_LOGPROBS };
    const reportTop = laterOf(variantOf(topLogprobs, shape), Rank.logprobs, {
      name: "top logprobs",
      bindGroup: compiler.bind(topLogprobs, { ...read, top }),
      workgroups,
    });
    // A software adapter compiles one after the other, and these take longest: they wait for a request that needs them.
    if (!parts.isSoftware) {
      const { haveFilters, haveRules } = parts.draws;
      if (haveFilters || haveRules || PROCESSED_LOGPROBS) other.hurry();
      if (haveRules) process.hurry();
    }

    const [pipeline, ...sum] = await Promise.all([
      compiler.pipeline(samplePlain, { ...constants, MAX_LENGTH: maxLength }),
      ...(parts.isSoftware ? [sumDispatch(parts)] : []),
    ]);
    const bindGroup = compiler.bind(samplePlain, { logits, samples, logit_parts: logitParts, ...written });
    const plain = { name: "sample plain", pipeline, bindGroup, workgroups };
    return new Sampler(parts.step, top, sum, plain, { process, other, reportTop });
  }

  /** Returns what a sequence has to wait for; null for nothing. */
  missing(needs: DrawNeeds): Promise<void> | null {
    const missing = this.#laterOnes(this.#step.kindsOf([needs])).filter(({ dispatch }) => dispatch === null);
    return missing.length === 0 ? null : Promise.all(missing.map((one) => one.wait())).then(() => undefined);
  }

  /** Returns the dispatches of a step; none if it has no samples. */
  dispatches(shape: StepShape): readonly Dispatch[] {
    if (shape.samples === 0) return [];
    const plain = shape.anyPlain ? [this.#plain] : [];
    const later = this.#laterOnes(shape).map(({ dispatch }) => dispatch ?? fail());
    return [...this.#sum, ...plain, ...later];
  }

  /** In the order in which they run. */
  #laterOnes({ anyRules, anyOther, maxTop }: SampleKinds): readonly LaterDispatch[] {
    const { process, other, reportTop } = this.#later;
    return [...(anyRules ? [process] : []), ...(anyOther ? [other] : []), ...(maxTop > 0 ? [reportTop] : [])];
  }
}

/** The summary of logits that a GPU's head makes by itself. */
async function sumDispatch({
  compiler,
  step,
  logits,
  logitParts,
  vocabSize,
  logitStride,
}: SamplerParts): Promise<Dispatch> {
  const { samples } = step;
  const numParts = Math.ceil(vocabSize / PART_TOKENS);
  return {
    name: "sum logits",
    pipeline: await compiler.pipeline(sumLogits, { LANES: SOFTWARE_LANES, VOCABULARY: vocabSize, STRIDE: logitStride }),
    bindGroup: compiler.bind(sumLogits, { logits, samples, logit_parts: logitParts }),
    workgroups: (size) => [Math.ceil(numParts / SOFTWARE_LANES), size.samples],
  };
}

function fail(): never {
  throw new Error("a step begins before its kernels are compiled");
}
