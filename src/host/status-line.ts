import type { EngineStats, StepReport } from "../protocol/reports.ts";

const INTERVAL_MS = 5000;

/** Writes one line about the engine's work every five seconds while it is busy. */
export class StatusLine {
  #sinceMs: number | null = null;
  #before: EngineStats | null = null;

  /** Returns the line if one is due, else null. Call it after each step. */
  observe({ atMs, stepMs, numRunning, numWaiting }: StepReport, stats: () => EngineStats): string | null {
    this.#sinceMs ??= atMs - stepMs;
    this.#before ??= stats();
    const isIdle = numRunning + numWaiting === 0;
    if (atMs - this.#sinceMs < INTERVAL_MS && !isIdle) return null;
    const now = stats();
    const line = atMs - this.#sinceMs < INTERVAL_MS ? null : describe(this.#before, now, atMs - this.#sinceMs);
    this.#sinceMs = isIdle ? null : atMs;
    this.#before = now;
    return line;
  }
}

/** Rates cover the interval; the other figures are current. */
function describe(before: EngineStats, now: EngineStats, intervalMs: number): string {
  const perSecond = (count: number) => `${((1000 * count) / intervalMs).toFixed(1)} tok/s`;
  const queries = now.prefix_cache_queries - before.prefix_cache_queries;
  const hits = now.prefix_cache_hits - before.prefix_cache_hits;
  return [
    `running ${now.num_requests_running}, waiting ${now.num_requests_waiting}`,
    `KV cache ${percent(now.kv_cache_usage_perc)}`,
    `prompt ${perSecond(now.prompt_tokens_total - before.prompt_tokens_total)}`,
    `generation ${perSecond(now.generation_tokens_total - before.generation_tokens_total)}`,
    `prefix hits ${queries > 0 ? percent(hits / queries) : "-"}`,
  ].join("; ");
}

function percent(fraction: number): string {
  return `${(100 * fraction).toFixed(1)}%`;
}
