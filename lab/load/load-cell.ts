import type { BatchingMode } from "../../src/protocol/config.ts";
import { sumOf } from "../statistics.ts";
import { summarise } from "./load-summary.ts";
import type { LoadRun } from "./serving-metrics.ts";

/** The engine and its load. */
interface CellSetup {
  readonly batching_mode: BatchingMode;
  /** maxNumSeqs: most sequences that run at once. */
  readonly batch_size: number;
  /** Most requests that the clients have open; null if they come at random times. */
  readonly concurrency: number | null;
  /** How long a static batch waits for more requests; null in other modes. */
  readonly batch_window_ms: number | null;
  readonly drafts: "off" | "ngram" | "draft_model";
}

/**
 * One configuration under one load: a row of the CSV, whose columns have these names. Figures are medians over the rounds
 * (a percentile is taken in each round); null means not applicable.
 */
export interface LoadCell extends CellSetup {
  readonly rounds: number;
  /** Requests of each round; tokens too are per round. */
  readonly requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** From the first request to the end of the last answer. */
  readonly wall_ms: number;
  readonly p50_e2el_ms: number;
  readonly p95_e2el_ms: number;
  readonly p50_ttft_ms: number;
  readonly p95_ttft_ms: number;
  readonly p50_tpot_ms: number;
  readonly p50_itl_ms: number;
  readonly p95_itl_ms: number;
  readonly output_tokens_per_s: number;
  /** Half the difference between the best and the worst round's tokens per second, of the median; NaN for one round. */
  readonly spread: number;
  /** Mean sequences in a step. */
  readonly mean_batch: number;
  /** The same requests' wall time one by one, divided by this one. */
  readonly speed_up: number | null;
  /** Spread of both wall times, which are independent of each other. */
  readonly speed_up_spread: number | null;
  /** speed_up / batch_size */
  readonly efficiency: number | null;
  /** Fraction of the drafted tokens that was accepted. */
  readonly acceptance: number | null;
}

/** @throws Error if a request failed: the figures would belong to another load */
export function loadCell(setup: CellSetup, runs: readonly LoadRun[]): LoadCell {
  const failure = runs.flatMap(({ records }) => records).find(({ error }) => error !== null);
  if (failure) throw new Error(`A request failed: ${failure.error}`);
  const { median, spread } = summarise(runs);
  return {
    ...setup,
    rounds: runs.length,
    requests: median(({ completed }) => completed),
    input_tokens: median((metrics) => metrics.total_input_tokens),
    output_tokens: median((metrics) => metrics.total_output_tokens),
    wall_ms: median(({ duration }) => 1000 * duration),
    p50_e2el_ms: median((metrics) => metrics.p50_e2el_ms),
    p95_e2el_ms: median((metrics) => metrics.p95_e2el_ms),
    p50_ttft_ms: median((metrics) => metrics.p50_ttft_ms),
    p95_ttft_ms: median((metrics) => metrics.p95_ttft_ms),
    p50_tpot_ms: median((metrics) => metrics.p50_tpot_ms),
    p50_itl_ms: median((metrics) => metrics.p50_itl_ms),
    p95_itl_ms: median((metrics) => metrics.p95_itl_ms),
    output_tokens_per_s: median((metrics) => metrics.output_throughput),
    spread,
    mean_batch: median((metrics) => metrics.batch_occupancy),
    speed_up: null,
    speed_up_spread: null,
    efficiency: null,
    acceptance: acceptanceOf(runs),
  };
}

/** Returns the cell with its speed-up over one that had the same requests one by one. */
export function comparedWith(oneByOne: LoadCell, cell: LoadCell): LoadCell {
  const speedUp = oneByOne.wall_ms / cell.wall_ms;
  const spread = Math.hypot(oneByOne.spread, cell.spread);
  return { ...cell, speed_up: speedUp, speed_up_spread: spread, efficiency: speedUp / cell.batch_size };
}

function acceptanceOf(runs: readonly LoadRun[]): number | null {
  const entries = runs.flatMap(({ steps }) => steps).flatMap((step) => step.entries);
  const drafted = sumOf(entries.map((entry) => entry.drafted));
  return drafted > 0 ? sumOf(entries.map((entry) => entry.accepted)) / drafted : null;
}
