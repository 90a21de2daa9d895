import type { DraftMetrics, PromptListMetrics, RequestMetrics } from "../../protocol/request-metrics.ts";
import { tokensOf, type RequestReport, type StepEntry, type StepReport } from "../../protocol/reports.ts";
import { percentileOf } from "./percentile.ts";

/** The figures of one request, computed from the reports about its choices. */
export class RequestFigures {
  readonly #choices: readonly ChoiceFigures[];

  constructor(numChoices: number) {
    this.#choices = Array.from({ length: numChoices }, () => new ChoiceFigures());
  }

  observeStep(choice: number, entry: StepEntry, report: StepReport): void {
    this.#choices[choice]?.observeStep(entry, report);
  }

  observeRequest(choice: number, report: RequestReport): void {
    const figures = this.#choices[choice];
    if (figures) figures.report = report;
  }

  metricsOf(choice: number): RequestMetrics {
    return metricsOf(this.#choices.slice(choice, choice + 1));
  }

  /**
   * Returns the figures of the whole request. With several choices its times go to the first one that was scheduled or had a
   * token, and to the last one that ended; its counts are sums.
   */
  metrics(numPrompts: number): RequestMetrics {
    const metrics = metricsOf(this.#choices);
    const list = numPrompts > 1 ? promptListMetrics(this.#choices, numPrompts, metrics.total_time_ms ?? 0) : null;
    return list === null ? metrics : { ...metrics, prompt_list: list };
  }
}

class ChoiceFigures {
  /** Inter-token latencies. */
  readonly gapsMs: number[] = [];
  lastTokenMs: number | null = null;
  /** Sequences in each of its steps, by the step's number. */
  readonly batchSizes = new Map<number, number>();
  report: RequestReport | null = null;

  observeStep(entry: StepEntry, { step, atMs, entries }: StepReport): void {
    this.batchSizes.set(step, entries.length); // the beams of a search have an entry each
    const count = tokensOf(entry);
    if (count === 0) return;
    const gapMs = this.lastTokenMs === null ? null : (atMs - this.lastTokenMs) / count;
    if (gapMs !== null) for (let i = 0; i < count; i++) this.gapsMs.push(gapMs);
    this.lastTokenMs = atMs;
  }
}

function metricsOf(choices: readonly ChoiceFigures[]): RequestMetrics {
  const reports = choices.flatMap(({ report }) => report ?? []);
  const first = (times: readonly (number | null)[]) => extreme(Math.min, times);
  const last = (times: readonly (number | null)[]) => extreme(Math.max, times);
  const arrivalMs = first(reports.map((report) => report.arrivalMs));
  const scheduledMs = first(reports.map((report) => report.scheduledMs));
  const firstTokenMs = first(reports.map((report) => report.firstTokenMs));
  const lastTokenMs = last(choices.map((choice) => choice.lastTokenMs));
  const gapsMs = choices.flatMap((choice) => choice.gapsMs);
  const inferenceMs = interval(scheduledMs, lastTokenMs) ?? 0;
  const batchSizes = [...new Map(choices.flatMap((choice) => [...choice.batchSizes])).values()];
  return {
    queue_time_ms: interval(arrivalMs, scheduledMs),
    time_to_first_token_ms: interval(arrivalMs, firstTokenMs),
    prefill_time_ms: interval(scheduledMs, firstTokenMs),
    generation_time_ms: interval(firstTokenMs, lastTokenMs),
    total_time_ms: interval(arrivalMs, last(reports.map((report) => report.finishedMs))),
    mean_itl_ms: meanOf(gapsMs),
    p95_itl_ms: percentileOf(0.95, gapsMs),
    tokens_per_second: inferenceMs > 0 ? (1000 * numTokens(choices)) / inferenceMs : null,
    num_steps: batchSizes.length,
    mean_batch_size: meanOf(batchSizes),
    max_batch_size: extreme(Math.max, batchSizes) ?? 0,
    num_preemptions: sum(reports, (report) => report.numPreemptions),
    cached_tokens: sum(reports, (report) => report.cachedTokens),
    speculative_decoding: draftMetrics(reports),
  };
}

function draftMetrics(reports: readonly RequestReport[]): DraftMetrics | null {
  const drafted = sum(reports, (report) => report.draftTokens);
  const accepted = sum(reports, (report) => report.acceptedTokens);
  if (drafted === 0) return null;
  return {
    num_draft_tokens: drafted,
    num_accepted_draft_tokens: accepted,
    draft_acceptance_rate: accepted / drafted,
  };
}

function promptListMetrics(choices: readonly ChoiceFigures[], numPrompts: number, totalMs: number): PromptListMetrics {
  const totalS = totalMs / 1000;
  return {
    num_prompts: numPrompts,
    total_time_s: totalS,
    time_per_prompt_s: totalS / numPrompts,
    tokens_per_second: totalS > 0 ? numTokens(choices) / totalS : 0,
  };
}

function numTokens(choices: readonly ChoiceFigures[]): number {
  return sum(choices, ({ report }) => report?.outputTokens ?? 0);
}

/** Returns the first or last of the known times; null if none is known. */
function extreme(pick: (a: number, b: number) => number, times: readonly (number | null)[]): number | null {
  return times.reduce((found, time) => (found === null || time === null ? (found ?? time) : pick(found, time)), null);
}

function interval(fromMs: number | null, toMs: number | null): number | null {
  return fromMs === null || toMs === null ? null : toMs - fromMs;
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : sum(values, (value) => value) / values.length;
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}
