import type { BatchingMode } from "../../src/protocol/config.ts";
import { sumOf } from "../statistics.ts";
import { summarise } from "./load-summary.ts";
import type { LoadRun } from "./serving-metrics.ts";

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

/** [continuous batching without drafts, requests at random times] */
type GivenSetup = Pick<CellSetup, "batch_size"> & Partial<CellSetup>;

/**
 * One configuration under one load: a row of the CSV, whose columns have these names. Figures are medians over the rounds
 * (a percentile is taken in each round); null means not applicable.
 */
export type LoadCell = ReturnType<typeof loadCell>;

/** @throws Error if a request failed: the figures would belong to another load */
export function loadCell(given: GivenSetup, runs: readonly LoadRun[]) {
  const failure = runs.flatMap(({ records }) => records).find(({ error }) => error !== null);
  if (failure) throw new Error(`A request failed: ${failure.error}`);
  const { median, spread } = summarise(runs);
  const setup: CellSetup = {
    batching_mode: given.batching_mode ?? "continuous",
    batch_size: given.batch_size,
    concurrency: given.concurrency ?? null,
    batch_window_ms: given.batch_window_ms ?? null,
    drafts: given.drafts ?? "off",
  };
  return {
    ...setup,
    rounds: runs.length,
    /** Of each round; tokens too are per round. */
    requests: median(({ completed }) => completed),
    input_tokens: median((metrics) => metrics.total_input_tokens),
    output_tokens: median((metrics) => metrics.total_output_tokens),
    /** From the first request to the end of the last answer. */
    wall_ms: median(({ duration }) => 1000 * duration),
    p50_e2el_ms: median((metrics) => metrics.median_e2el_ms),
    p95_e2el_ms: median((metrics) => metrics.p95_e2el_ms),
    p50_ttft_ms: median((metrics) => metrics.median_ttft_ms),
    p95_ttft_ms: median((metrics) => metrics.p95_ttft_ms),
    p50_tpot_ms: median((metrics) => metrics.median_tpot_ms),
    p50_itl_ms: median((metrics) => metrics.median_itl_ms),
    p95_itl_ms: median((metrics) => metrics.p95_itl_ms),
    output_tokens_per_s: median((metrics) => metrics.output_throughput),
    /** Half the difference between the best and the worst round's tokens per second, of the median; NaN for one round. */
    spread,
    /** Mean sequences in a step. */
    mean_batch: median((metrics) => metrics.batch_occupancy),
    /** The same requests' wall time one by one, divided by this one. */
    speed_up: null as number | null,
    /** Spread of both wall times, which are independent of each other. */
    speed_up_spread: null as number | null,
    /** speed_up / batch_size */
    efficiency: null as number | null,
    /** Fraction of the drafted tokens that was accepted. */
    acceptance: acceptanceOf(runs),
  };
}

/** Returns the cell with its speed-up over one that had the same requests one by one. */
export function comparedWith(oneByOne: LoadCell | undefined, cell: LoadCell): LoadCell {
  if (!oneByOne) return cell;
  const speedUp = oneByOne.wall_ms / cell.wall_ms;
  const spread = Math.hypot(oneByOne.spread, cell.spread);
  return { ...cell, speed_up: speedUp, speed_up_spread: spread, efficiency: speedUp / cell.batch_size };
}

function acceptanceOf(runs: readonly LoadRun[]): number | null {
  const entries = runs.flatMap(({ steps }) => steps).flatMap((step) => step.entries);
  const drafted = sumOf(entries.map((entry) => entry.drafted));
  return drafted > 0 ? sumOf(entries.map((entry) => entry.accepted)) / drafted : null;
}
