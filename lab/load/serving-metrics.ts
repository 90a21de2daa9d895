// vLLM's four latencies of one stream, as its reader saw them, and the figures of a load. Times are milliseconds of the page's clock.

import type { StepReport } from "../../src/protocol/reports.ts";
import { meanOf, medianOf, percentileOf, sumOf } from "../statistics.ts";

/** Tokens that came together: one chunk. */
export interface OutputChunk {
  readonly atMs: number;
  readonly tokens: number;
}

export interface RequestRecord {
  readonly promptTokens: number;
  readonly sentMs: number;
  readonly chunks: readonly OutputChunk[];
  /** null if it succeeded. */
  readonly error: string | null;
}

function outputTokensOf({ chunks }: RequestRecord): number {
  return chunks.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Returns the time to the first token; NaN if none came. */
export function ttftMs({ sentMs, chunks }: RequestRecord): number {
  return (chunks[0]?.atMs ?? NaN) - sentMs;
}

export function e2elMs({ sentMs, chunks }: RequestRecord): number {
  return (chunks.at(-1)?.atMs ?? NaN) - sentMs;
}

/** Returns the inter-token latencies: the gaps between streamed outputs. */
export function itlsMs({ chunks }: RequestRecord): number[] {
  return chunks.slice(1).map(({ atMs }, i) => atMs - (chunks[i]?.atMs ?? NaN));
}

/** Returns the time per output token after the first; null for a single token, which has none. */
export function tpotMs(record: RequestRecord): number | null {
  const outputTokens = outputTokensOf(record);
  return outputTokens > 1 ? (e2elMs(record) - ttftMs(record)) / (outputTokens - 1) : null;
}

export interface LoadRun {
  /** Requests a second; Infinity = all at once. */
  readonly requestRate: number;
  /** Limit of concurrent requests; null = none. */
  readonly maxConcurrency: number | null;
  readonly durationMs: number;
  readonly records: readonly RequestRecord[];
  readonly steps: readonly StepReport[];
}

export type LatencyName = "ttft" | "tpot" | "itl" | "e2el";
type LatencyStatistic = "mean" | "median" | "p95" | "p99";

export type ServingMetrics = ReturnType<typeof servingMetrics>;

/** Returns the figures of `vllm bench serve` by their names in its JSON, with the percentiles 95 and 99, and one of our own. */
export function servingMetrics(run: LoadRun) {
  const good = run.records.filter(({ error }) => error === null);
  const duration = run.durationMs / 1000;
  const inputTokens = sumOf(good.map(({ promptTokens }) => promptTokens));
  const outputTokens = sumOf(good.map(outputTokensOf));
  const startMs = Math.min(...run.records.map(({ sentMs }) => sentMs));
  return {
    /** Seconds. */
    duration,
    completed: good.length,
    failed: run.records.length - good.length,
    total_input_tokens: inputTokens,
    total_output_tokens: outputTokens,
    request_rate: run.requestRate === Infinity ? ("inf" as const) : run.requestRate,
    max_concurrency: run.maxConcurrency,
    request_throughput: good.length / duration,
    output_throughput: outputTokens / duration,
    total_token_throughput: (inputTokens + outputTokens) / duration,
    errors: run.records.flatMap(({ error }) => error ?? []),
    max_output_tokens_per_s: bestSecond(good, startMs),
    max_concurrent_requests: mostAtOnce(good),
    /** Ours: mean sequences in a step. */
    batch_occupancy: meanOf(run.steps.map(({ entries }) => entries.length)),
    ...statistics("ttft", good.map(ttftMs)),
    ...statistics(
      "tpot",
      good.flatMap((record) => tpotMs(record) ?? []),
    ),
    ...statistics("itl", good.flatMap(itlsMs)),
    ...statistics("e2el", good.map(e2elMs)),
  };
}

function statistics<Name extends LatencyName>(name: Name, values: readonly number[]) {
  return {
    [`mean_${name}_ms`]: meanOf(values),
    [`median_${name}_ms`]: medianOf(values),
    [`p95_${name}_ms`]: percentileOf(values, 95),
    [`p99_${name}_ms`]: percentileOf(values, 99),
  } as { [Key in `${LatencyStatistic}_${Name}_ms`]: number };
}

/** Returns the most tokens within one whole second after the start. */
function bestSecond(records: readonly RequestRecord[], startMs: number): number {
  const seconds = new Map<number, number>();
  for (const { atMs, tokens } of records.flatMap(({ chunks }) => chunks)) {
    const second = Math.floor((atMs - startMs) / 1000);
    seconds.set(second, (seconds.get(second) ?? 0) + tokens);
  }
  return Math.max(0, ...seconds.values());
}

function mostAtOnce(records: readonly RequestRecord[]): number {
  const changes = records.flatMap((record) => [
    { atMs: record.sentMs, by: 1 },
    { atMs: record.sentMs + e2elMs(record), by: -1 },
  ]);
  let open = 0;
  let most = 0;
  for (const { by } of changes.sort((a, b) => a.atMs - b.atMs || a.by - b.by)) most = Math.max(most, (open += by));
  return most;
}
