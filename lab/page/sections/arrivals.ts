import type { BatchingMode } from "../../../src/protocol/config.ts";
import type { Section } from "../bench-context.ts";
import { sequencesUpTo } from "../bench-options.ts";
import { loadCell, type LoadCell } from "../../load/load-cell.ts";
import { poissonArrivalsMs, runLoad } from "../../load/load.ts";
import { servingMetrics } from "../../load/serving-metrics.ts";
import { textRequests } from "../../load/text-prompts.ts";
import { cellTable } from "../../report/cell-table.ts";
import { formatFigure } from "../../report/format-figure.ts";
import { chartOf } from "../../report/tables-and-charts.ts";

/** Rates as fractions of the throughput when all requests come at once, since useful rates differ between machines. */
const LOADS = [0.25, 0.5, 0.75, 1, Infinity];
const QUICK_LOADS = [0.5, Infinity];
const WINDOWS_MS = [0, 10, 50, 100, 200, 500];
const QUICK_WINDOWS_MS = [0, 100, 500];
const WINDOWS_LOAD = 0.5;
const MAX_SEQS = 16;
/** Times that each text is sent. */
const LAPS = 4;
const QUICK_LAPS = 1;
const MAX_MS_PER_CASE = 12_000;

interface ArrivalsCase {
  readonly mode: BatchingMode;
  readonly windowMs: number | null;
  readonly load: number;
}

export const arrivalsSection: Section = {
  about:
    "The ten texts come as a Poisson process, at fractions of the rate that the engine reaches when all of them come at once. " +
    "At half of it static batching waits for more requests before a batch starts, until the batch is full or its window has " +
    "passed. Every case gets the same requests, and at one rate at the same times. Names are those of vLLM's serving benchmark.",
  async run(context) {
    const { outputTokens, quick } = context.options;
    const batchSize = sequencesUpTo(MAX_SEQS, context.options).at(-1) ?? MAX_SEQS;
    const engine = await context.openEngine({ maxNumSeqs: batchSize, enablePrefixCaching: false });
    const requests = await textRequests(engine, context, quick ? QUICK_LAPS : LAPS);
    const { signal } = context;
    const burst = () => runLoad(engine, requests, { signal });
    context.progress(0, "all at once");
    await burst();
    const mostPerSecond = servingMetrics(await burst()).request_throughput;
    const arrivals = poissonArrivalsMs(requests.length, 1, context.random);
    const cases: readonly ArrivalsCase[] = [
      ...(quick ? QUICK_LOADS : LOADS).map((load) => ({ mode: "continuous", windowMs: null, load }) as const),
      ...(quick ? QUICK_WINDOWS_MS : WINDOWS_MS).map(
        (windowMs) => ({ mode: "static", windowMs, load: WINDOWS_LOAD }) as const,
      ),
    ];
    const measured = await context.interleave(
      cases,
      ({ windowMs, load }) => (windowMs === null ? rateOf(load) : `a window of ${windowMs} ms`),
      async ({ mode, windowMs, load }, isWarmUp) => {
        await engine.update({ batchingMode: mode, batchWindowMs: windowMs });
        const requestRate = load * mostPerSecond;
        const arrivalsMs = arrivals.map((atMs) => atMs / requestRate);
        return isWarmUp ? burst() : runLoad(engine, requests, { requestRate, arrivalsMs, signal });
      },
      { mostMs: MAX_MS_PER_CASE * cases.length },
    );
    const lines = measured.map(({ of: { mode, windowMs, load }, outcomes }) => ({
      load,
      cell: loadCell({ batching_mode: mode, batch_size: batchSize, batch_window_ms: windowMs }, outcomes),
    }));
    const byRate = lines.filter(({ cell }) => cell.batching_mode === "continuous");
    const byWindow = lines.map(({ cell }) => cell).filter((cell) => cell.batching_mode === "static");
    const pointsOf = (pick: (cell: LoadCell) => number) =>
      byWindow.map((cell) => [cell.batch_window_ms ?? NaN, pick(cell)] as const);
    const latenciesOf = (name: "p50_itl_ms" | "p95_itl_ms") =>
      byRate.map(({ cell }) => [cell.output_tokens_per_s, cell[name]] as const);
    const named = `${requests.length} requests, answers of ${outputTokens} tokens, batches of at most ${batchSize}`;
    return {
      headlines: [
        [`${formatFigure(byRate[0]?.cell.p95_ttft_ms ?? NaN)} ms`, "to the first token (p95), at first"],
        [`${formatFigure(byRate.at(-1)?.cell.output_tokens_per_s ?? NaN)} tokens/s`, "when all come at once"],
      ],
      charts: [
        chartOf(
          "Inter-token latency by throughput, one point a rate",
          { x: "output tokens/s", y: "ms" },
          { p50: latenciesOf("p50_itl_ms"), p95: latenciesOf("p95_itl_ms") },
        ),
        chartOf(
          "Latencies by the window of static batching",
          { x: "window, ms", y: "ms" },
          {
            "E2EL p95": pointsOf((cell) => cell.p95_e2el_ms),
            "E2EL p50": pointsOf((cell) => cell.p50_e2el_ms),
            "TTFT p50": pointsOf((cell) => cell.p50_ttft_ms),
          },
        ),
      ],
      tables: [
        cellTable(
          `Continuous batching by the rate: ${named}`,
          byRate.map(({ cell }) => cell),
          {
            Rate: (cell) => rateOf(byRate.find((one) => one.cell === cell)?.load ?? NaN),
            "mean batch": (cell) => cell.mean_batch,
          },
        ),
        cellTable(
          `Static batching by its window, ${formatFigure(WINDOWS_LOAD * mostPerSecond)} requests a second: ${named}`,
          byWindow,
          { "Window, ms": (cell) => cell.batch_window_ms, "mean batch": (cell) => cell.mean_batch },
        ),
      ],
      cells: lines.map(({ cell }) => cell),
    };
  },
};

function rateOf(load: number): string {
  return load === Infinity ? "all at once" : `${load} of it`;
}
