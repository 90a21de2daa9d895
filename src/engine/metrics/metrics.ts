import type { RequestReport, StepReport } from "../../protocol/reports.ts";
import { Histogram, oneTwoFiveBounds } from "./histogram.ts";
import { TokenGaps } from "./token-gaps.ts";

/** vLLM's bounds, in seconds. */
const TTFT = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
];
const PER_TOKEN = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
const PER_REQUEST = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
const ITERATION_TOKENS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
/** Bounds of our own, in seconds. */
const STEP = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.04, 0.05, 0.075, 0.1, 0.2, 0.5, 1, 2, 5];
const STEP_CPU = [0.00005, 0.0001, 0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05];
const SHARES = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const SEQUENCES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

interface Definition {
  readonly help: string;
  /** "lengths": 1, 2, 5, 10, ... up to the longest sequence. */
  readonly bounds: readonly number[] | "lengths";
}

const definitions = <Name extends string>(table: Record<Name, Definition>) => table;

/** Histograms that vLLM has too, by its names and with its definitions. */
export const VLLM_HISTOGRAMS = definitions({
  time_to_first_token_seconds: { help: "From arrival to the first token.", bounds: TTFT },
  inter_token_latency_seconds: {
    help: "Between two successive tokens of a sequence; each token counts once. Tokens of one step share its time.",
    bounds: PER_TOKEN,
  },
  request_time_per_output_token_seconds: {
    help: "Mean time of a sequence's tokens after its first; each sequence of two tokens or more counts once.",
    bounds: PER_TOKEN,
  },
  e2e_request_latency_seconds: { help: "From arrival to the end.", bounds: PER_REQUEST },
  request_queue_time_seconds: { help: "From arrival to being scheduled first.", bounds: PER_REQUEST },
  request_prefill_time_seconds: { help: "From being scheduled first to the first token.", bounds: PER_REQUEST },
  request_decode_time_seconds: { help: "From the first token to the end.", bounds: PER_REQUEST },
  request_inference_time_seconds: { help: "From being scheduled first to the end.", bounds: PER_REQUEST },
  request_prompt_tokens: { help: "Prompt tokens of a sequence that ended.", bounds: "lengths" },
  request_generation_tokens: { help: "Generated tokens of a sequence that ended.", bounds: "lengths" },
  iteration_tokens_total: { help: "Tokens computed in a step, of prompts and answers.", bounds: ITERATION_TOKENS },
});

/** Histograms of our own. */
export const CHORUS_HISTOGRAMS = definitions({
  engine_step_seconds: { help: "From planning a step to knowing its tokens.", bounds: STEP },
  engine_step_cpu_seconds: { help: "JavaScript time of a step.", bounds: STEP_CPU },
  engine_step_gpu_seconds: { help: "GPU time of a step, where the adapter has timestamps.", bounds: STEP },
  request_draft_acceptance: {
    help: "Share of a sequence's drafted tokens that were accepted; each sequence with drafts counts once.",
    bounds: SHARES,
  },
  engine_step_sequences: { help: "Sequences in a step.", bounds: SEQUENCES },
});

export type HistogramName = keyof typeof VLLM_HISTOGRAMS | keyof typeof CHORUS_HISTOGRAMS;

/**
 * The histograms of a run, computed from its reports alone, live or recorded. A step must be observed before the request
 * reports of the same step.
 */
export class Metrics {
  readonly histograms: Readonly<Record<HistogramName, Histogram>>;
  readonly #gaps = new TokenGaps();

  /** @param maxModelLen the longest sequence, in tokens */
  constructor({ maxModelLen }: { maxModelLen: number }) {
    const all: Record<string, Definition> = { ...VLLM_HISTOGRAMS, ...CHORUS_HISTOGRAMS };
    const entries = Object.entries(all).map(([name, { bounds }]) => {
      return [name, new Histogram(bounds === "lengths" ? oneTwoFiveBounds(maxModelLen) : bounds)] as const;
    });
    this.histograms = Object.fromEntries(entries) as Record<HistogramName, Histogram>;
  }

  observeStep(report: StepReport): void {
    const h = this.histograms;
    h.iteration_tokens_total.observe(report.rows);
    h.engine_step_seconds.observe(report.stepMs / 1000);
    h.engine_step_cpu_seconds.observe(report.cpuMs / 1000);
    if (report.gpuMs !== null) h.engine_step_gpu_seconds.observe(report.gpuMs / 1000);
    h.engine_step_sequences.observe(report.entries.length);
    for (const gapMs of this.#gaps.observeStep(report)) h.inter_token_latency_seconds.observe(gapMs / 1000);
  }

  observeRequest(report: RequestReport): void {
    this.#gaps.observeRequest(report);
    const { arrivalMs, scheduledMs, firstTokenMs, finishedMs } = report;
    const h = this.histograms;
    if (report.status === "first-token") observeInterval(h.time_to_first_token_seconds, arrivalMs, firstTokenMs);
    if (report.status !== "finished") return;
    observeInterval(h.e2e_request_latency_seconds, arrivalMs, finishedMs);
    observeInterval(h.request_queue_time_seconds, arrivalMs, scheduledMs);
    observeInterval(h.request_prefill_time_seconds, scheduledMs, firstTokenMs);
    observeInterval(h.request_decode_time_seconds, firstTokenMs, finishedMs);
    observeInterval(h.request_inference_time_seconds, scheduledMs, finishedMs);
    h.request_prompt_tokens.observe(report.promptTokens);
    h.request_generation_tokens.observe(report.outputTokens);
    if (report.draftTokens > 0) h.request_draft_acceptance.observe(report.acceptedTokens / report.draftTokens);
    if (report.outputTokens > 1 && firstTokenMs !== null && finishedMs !== null) {
      const perTokenMs = (finishedMs - firstTokenMs) / (report.outputTokens - 1);
      h.request_time_per_output_token_seconds.observe(perTokenMs / 1000);
    }
  }
}

/** A sequence that was aborted early lacks some times. */
function observeInterval(histogram: Histogram, fromMs: number | null, toMs: number | null): void {
  if (fromMs !== null && toMs !== null) histogram.observe((toMs - fromMs) / 1000);
}
