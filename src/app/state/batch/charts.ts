import { tokensOf, type RequestReport, type StepReport } from "../../../index.ts";
import { paneTurnOf, keyOfSequence } from "../chat/request-name.ts";
import { SlidingWindow } from "./sliding-window.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

export type ChartSample = Readonly<ReturnType<typeof sampleOf>>;

interface ChartsState {
  /** The last minute, oldest first. */
  readonly samples: readonly ChartSample[];
  /** Percentiles of the last minute, milliseconds; null without values. */
  readonly ttft: Percentiles | null;
  readonly itl: Percentiles | null;
}

export const CHARTS_WINDOW_MS = 60_000;
const SECOND_MS = 1000;
const MAX_LATENCIES = 4096;

/** The last minute of the batch, one sample per tick. Memory is bounded. */
export class Charts {
  readonly #store = createStore<ChartsState>(() => ({ samples: [], ttft: null, itl: null }));
  readonly store: ReadonlyStore<ChartsState> = this.#store;
  readonly #intervalMs: number;
  readonly #mostSamples: number;
  #samples: readonly ChartSample[] = [];
  /** Tokens of the last second. */
  readonly #tokens = new SlidingWindow<PaneTokens>(SECOND_MS);
  readonly #ttft = new SlidingWindow<{ atMs: number; ms: number }>(CHARTS_WINDOW_MS, MAX_LATENCIES);
  readonly #itl = new SlidingWindow<{ atMs: number; ms: number }>(CHARTS_WINDOW_MS, MAX_LATENCIES);
  /** Time of each open sequence's last token. */
  readonly #lastTokenMs = new Map<string, number>();
  #steps: StepReport[] = [];
  #last: StepReport | null = null;
  /** The worker's clock at the last tick. */
  #tickMs = 0;

  /** @param intervalMs from tick to tick */
  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
    this.#mostSamples = CHARTS_WINDOW_MS / intervalMs;
  }

  clear(): void {
    this.#samples = [];
    this.#tokens.clear();
    this.#ttft.clear();
    this.#itl.clear();
    this.#lastTokenMs.clear();
    this.#steps = [];
    this.#last = null;
    this.#store.setState({ samples: [], ttft: null, itl: null }, true);
  }

  addStep(report: StepReport): void {
    const { atMs, entries } = report;
    this.#steps.push(report);
    this.#last = report;
    for (const entry of entries) {
      const { requestId, finishReason } = entry;
      const numTokens = tokensOf(entry);
      if (numTokens === 0) continue;
      const key = keyOfSequence(entry);
      const before = this.#lastTokenMs.get(key);
      if (before !== undefined) {
        // Tokens of one step share the time since the step before.
        for (let i = 0; i < numTokens; i++) this.#itl.add({ atMs, ms: (atMs - before) / numTokens });
      }
      if (finishReason === null) this.#lastTokenMs.set(key, atMs);
      else this.#lastTokenMs.delete(key);
      this.#tokens.add({ atMs, pane: paneTurnOf(requestId)?.pane ?? 0, count: numTokens });
    }
  }

  addRequest(report: RequestReport): void {
    const { status, firstTokenMs, arrivalMs } = report;
    if (status === "first-token" && firstTokenMs !== null) {
      this.#ttft.add({ atMs: firstTokenMs, ms: firstTokenMs - arrivalMs });
    }
    if (status === "finished") this.#lastTokenMs.delete(keyOfSequence(report));
  }

  /**
   * Takes a sample. Returns whether it shows any work. While there is none, ticks may be left out: the next one brings a
   * sample for each of them.
   * @param nowMs the worker's clock
   * @param waiting waiting requests now; some may have left since the last step
   * @param running sequences that run now
   */
  tick(nowMs: number, waiting: number, running: number): boolean {
    if (this.#last === null) return false;
    const before = this.#samples.slice(-1);
    const numLeftOut = Math.min(this.#mostSamples, Math.round((nowMs - this.#tickMs) / this.#intervalMs) - 1);
    const leftOut = Array.from({ length: Math.max(0, numLeftOut) }, () => before).flat();
    this.#tickMs = nowMs;
    const sample = sampleOf(this.#tokens.at(nowMs), this.#steps, this.#last, waiting, running);
    const isAtWork = sample.tokensPerSecond + waiting + running + this.#steps.length > 0;
    this.#steps = [];
    this.#samples = [...this.#samples, ...leftOut, sample].slice(-this.#mostSamples);
    this.#show(this.#samples, nowMs);
    return isAtWork;
  }

  /** Shows a sample of the steps since the last one, which the next tick replaces. The parameters are those of a tick. */
  peek(nowMs: number, waiting: number, running: number): void {
    if (this.#last === null || this.#steps.length === 0) return;
    const sample = sampleOf(this.#tokens.at(nowMs), this.#steps, this.#last, waiting, running);
    const samples = [...this.#samples, sample];
    this.#show(samples.slice(-this.#mostSamples), nowMs);
  }

  #show(samples: readonly ChartSample[], nowMs: number): void {
    const [ttft, itl] = [this.#ttft, this.#itl].map((times) => percentilesOf(times.at(nowMs).map(({ ms }) => ms)));
    this.#store.setState({ samples, ttft: ttft ?? null, itl: itl ?? null }, true);
  }
}

/** Tokens that a step made for a pane; 0 collects requests without one. */
type PaneTokens = { readonly atMs: number; readonly pane: number; readonly count: number };

/** @param tokens those of the last second @param steps those since the last sample @param last the newest step */
function sampleOf(
  tokens: readonly PaneTokens[],
  steps: readonly StepReport[],
  { kvBlocksUsed, kvBlocksCached, kvBlocksTotal }: StepReport,
  waiting: number,
  running: number,
) {
  const byPane: Record<number, number> = {};
  for (const { pane, count } of tokens) byPane[pane] = (byPane[pane] ?? 0) + count;
  return {
    /** Tokens per second, of all streams, and by pane number. */
    tokensPerSecond: Object.values(byPane).reduce((sum, rate) => sum + rate, 0),
    byPane,
    /** Mean over the steps. If there were none, those of the step in progress: 0 where nothing runs. */
    sequences: mean(steps.map(({ entries }) => entries.length)) ?? running,
    waiting,
    blocksUsed: kvBlocksUsed,
    blocksCached: kvBlocksCached,
    blocksTotal: kvBlocksTotal,
    /** Mean over the same steps; null if there were none. The GPU's is null too if the adapter has no clock. */
    cpuMs: mean(steps.map(({ cpuMs }) => cpuMs)),
    gpuMs: mean(steps.flatMap(({ gpuMs }) => gpuMs ?? [])),
    stepMs: mean(steps.map(({ stepMs }) => stepMs)),
  };
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

export type Percentiles = NonNullable<ReturnType<typeof percentilesOf>>;

export function percentilesOf(values: readonly number[]) {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  // The smallest value that at least this share of the values don't exceed.
  const rank = (share: number) => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
  return { p50: rank(0.5), p95: rank(0.95), p99: rank(0.99) };
}
