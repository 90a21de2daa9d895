import { MAX_TOP_CANDIDATES } from "../../engine/sampling/sampling-params.ts";
import type { LogprobsMode } from "../../protocol/config.ts";
import type { Arena } from "./arena.ts";
import type { Dispatch, KernelCompiler } from "./kernel.ts";
import { processLogits } from "./kernels/process-logits.ts";
import { sample } from "./kernels/sample.ts";
import { topLogprobs } from "./kernels/top-logprobs.ts";
import type { StepBuffer, StepShape } from "./step-buffer.ts";

interface SamplerParts {
  readonly compiler: KernelCompiler;
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
  /** The summary of each 32 logits, which the head writes on GPUs. */
  readonly logitParts: GPUBuffer;
  /** The last id drawn in each slot. */
  readonly feedback: GPUBuffer;
  /** [samples] of (id, bits of the log-probability). */
  readonly sampled: GPUBuffer;
  readonly isSoftware: boolean;
  /** Which logits the log-probabilities of drawn tokens describe. A prompt's are always raw. */
  readonly logprobsMode: LogprobsMode;
}

/** Turns any model's logits into tokens: applies rules, draws, and finds the most likely tokens on request. */
export class Sampler {
  /** [samples, MAX_TOP_CANDIDATES] of (id, bits of the log-probability). */
  readonly top: GPUBuffer;
  readonly #process: Dispatch;
  readonly #sample: Dispatch;
  readonly #tellTop: Dispatch;

  private constructor(top: GPUBuffer, process: Dispatch, draw: Dispatch, tellTop: Dispatch) {
    this.top = top;
    this.#process = process;
    this.#sample = draw;
    this.#tellTop = tellTop;
  }

  static async prepare(parts: SamplerParts): Promise<Sampler> {
    const { compiler, arena, vocabSize, maxSamples, maxLength, logits, logitParts, feedback, sampled } = parts;
    const { samples, history, rules, masks, ruleShape } = parts.step;
    const STRIDE = parts.logitStride;
    const constants = { LANES: parts.isSoftware ? 64 : 256, VOCABULARY: vocabSize, STRIDE };
    // The mode is fixed for the engine's life, so the pipeline has no code for the other one.
    const PROCESSED_LOGPROBS = parts.logprobsMode === "processed_logprobs";
    const kind = { PROCESSED_LOGPROBS, HAS_PARTS: !parts.isSoftware };
    const processed = arena.storage("processed logits", 4 * maxSamples * STRIDE);
    const counts = arena.storage("token counts", 4 * maxSamples * STRIDE);
    const top = arena.storage("top logprobs", 8 * maxSamples * MAX_TOP_CANDIDATES);
    const read = { logits, processed, samples, logit_parts: logitParts };
    const workgroups: Dispatch["workgroups"] = ({ samples: numSamples }) => [numSamples, 1];

    const [process, draw, tellTop] = await Promise.all([
      compiler.pipeline(processLogits, { ...constants, MAX_LENGTH: maxLength, RULE_WORDS: ruleShape.words }),
      compiler.pipeline(sample, { ...constants, MAX_LENGTH: maxLength, ...kind }),
      compiler.pipeline(topLogprobs, { ...constants, MAX_TOP: MAX_TOP_CANDIDATES, ...kind }),
    ]);
    return new Sampler(
      top,
      {
        name: "process logits",
        pipeline: process,
        bindGroup: compiler.bind(processLogits, { logits, samples, history, rules, masks, counts, processed }),
        workgroups,
      },
      {
        name: "sample",
        pipeline: draw,
        bindGroup: compiler.bind(sample, { ...read, feedback, history, sampled }),
        workgroups,
      },
      {
        name: "top logprobs",
        pipeline: tellTop,
        bindGroup: compiler.bind(topLogprobs, { ...read, top }),
        workgroups,
      },
    );
  }

  /** Returns the dispatches of a step; none if it has no samples. */
  dispatches({ samples, anyRules, maxTop }: StepShape): Dispatch[] {
    if (samples === 0) return [];
    return [...(anyRules ? [this.#process] : []), this.#sample, ...(maxTop > 0 ? [this.#tellTop] : [])];
  }
}
