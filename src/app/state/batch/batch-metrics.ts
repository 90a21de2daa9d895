import { shallow } from "zustand/vanilla/shallow";
import { gpuUseOf, type StepReport } from "../../../index.ts";
import { SlidingWindow } from "./sliding-window.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { WatchedEngine } from "./watched-engine.ts";

/** The batch's figures as shown. Current values are 0 while nothing runs. */
export type BatchFigures = Readonly<ReturnType<BatchMetrics["figures"]>>;

/** Figures change four times per second, so that they can be read. */
export const FIGURES_INTERVAL_MS = 250;
/** The engine's current gauges, between two steps: the share of the cache's blocks in use, and running sequences' tokens in it. */
const NO_GAUGES = { running: 0, waiting: 0, kvUse: 0, residentTokens: 0 };
const RATE_WINDOW_MS = 2000;
const PEAK_WINDOW_MS = 60_000;
/** After this long without a step the last gauges may be out of date. */
const QUIET_MS = 1000;

/** Watches one engine after another and computes its batch's figures. Only `tick` changes the store. */
export class BatchMetrics {
  readonly #store;
  readonly store: ReadonlyStore<BatchFigures>;
  readonly #now: () => number;
  #engine: WatchedEngine | null = null;
  readonly #recent = new SlidingWindow<StepReport>(RATE_WINDOW_MS);
  readonly #sizes = new SlidingWindow<{ atMs: number; numSequences: number }>(PEAK_WINDOW_MS);
  #last: StepReport | null = null;
  /** When the last step was reported, by the page's clock; added to the worker's last time. */
  #lastReportMs = 0;
  #gauges = NO_GAUGES;

  /** `now` is the page's clock. */
  constructor(now: () => number) {
    this.#now = now;
    this.store = this.#store = createStore<BatchFigures>(() => this.figures());
  }

  watch(engine: WatchedEngine | null): void {
    this.#engine = engine;
    this.#recent.clear();
    this.#sizes.clear();
    this.#last = null;
    this.#gauges = NO_GAUGES;
  }

  addStep(report: StepReport): void {
    this.#last = report;
    this.#lastReportMs = this.#now();
    this.#recent.add(report);
    this.#sizes.add({ atMs: report.atMs, numSequences: report.entries.length });
    this.#gauges = {
      running: report.numRunning,
      waiting: report.numWaiting,
      kvUse: report.kvBlocksTotal > 0 ? report.kvBlocksUsed / report.kvBlocksTotal : 0,
      residentTokens: report.numResidentTokens,
    };
  }

  /** Estimates the worker's clock: its last reported time plus the time since. */
  get workerNowMs(): number {
    return (this.#last?.atMs ?? 0) + this.#now() - this.#lastReportMs;
  }

  /** Updates the store. Must be called every FIGURES_INTERVAL_MS. */
  tick(): void {
    // A request aborted between two steps leaves without a report.
    if (!this.#isAtRest && this.#now() - this.#lastReportMs >= QUIET_MS) void this.#askGauges();
    const figures = this.figures();
    if (!shallow(figures, this.#store.getState())) this.#store.setState(figures, true);
  }

  get #isAtRest(): boolean {
    return this.#gauges.running + this.#gauges.waiting === 0;
  }

  /** Returns the figures as of now. */
  figures() {
    const [last, isAtRest] = [this.#last, this.#isAtRest];
    return {
      ...this.#gauges,
      /** Sequences that can run at once; 0 before the first engine. */
      slots: this.#engine?.config.maxNumSeqs ?? last?.maxNumSeqs ?? 0,
      /** Rows of the last step, and the most that a step has. */
      rows: isAtRest ? 0 : (last?.rows ?? 0),
      rowBudget: this.#engine?.config.maxNumBatchedTokens ?? last?.maxNumBatchedTokens ?? 0,
      /** GPU time of the last step over its whole time; null if the adapter has no clock. */
      gpuUse: last && (isAtRest && last.gpuMs !== null ? 0 : gpuUseOf(last)),
      /** Most sequences in any step of the last minute. */
      peakSequences: this.#sizes
        .at(this.workerNowMs)
        .reduce((most, { numSequences }) => Math.max(most, numSequences), 0),
      tokensPerSecond: isAtRest ? 0 : rateOf(this.#recent.at(this.workerNowMs), this.workerNowMs),
      step: last?.step ?? 0,
      preemptions: last?.preemptionsTotal ?? 0,
      /** Share of prompt tokens found in the prefix cache, 0..1; null if none was looked up. */
      prefixHits:
        last && last.prefixCacheQueriesTotal > 0 ? last.prefixCacheHitsTotal / last.prefixCacheQueriesTotal : null,
    };
  }

  async #askGauges(): Promise<void> {
    const engine = this.#engine;
    const lastStep = this.#last;
    try {
      const stats = await engine?.stats?.();
      if (stats === undefined || this.#engine !== engine || this.#last !== lastStep) return;
      this.#gauges = {
        running: stats.num_requests_running,
        waiting: stats.num_requests_waiting,
        kvUse: stats.kv_cache_usage_perc,
        residentTokens: stats.num_resident_tokens,
      };
    } catch {
      // The engine died. Its fatal event reports that, and the next watch() starts afresh.
    }
  }
}

/** Returns the tokens per second of steps. Work that began within the window is measured from its own beginning. */
function rateOf(steps: readonly StepReport[], nowMs: number): number {
  const [oldest] = steps;
  if (oldest === undefined) return 0;
  const spanMs = nowMs - Math.max(oldest.atMs - oldest.stepMs, nowMs - RATE_WINDOW_MS);
  const count = steps.reduce((sum, { sampledTokens }) => sum + sampledTokens, 0);
  return spanMs > 0 ? (count * 1000) / spanMs : 0;
}
