import type { Section } from "../bench-context.ts";
import { loadCell, type LoadCell } from "../../load/load-cell.ts";
import { poissonArrivalsMs, runLoad } from "../../load/load.ts";
import { servingMetrics } from "../../load/serving-metrics.ts";
import { textRequests } from "../../load/text-prompts.ts";
import { cellTable } from "../../report/cell-table.ts";
import { formatFigure } from "../../report/format-figure.ts";
import { chartOf } from "../../report/tables-and-charts.ts";

const WINDOWS_MS = [0, 10, 50, 100, 200, 500];
const QUICK_WINDOWS_MS = [0, 100, 500];
const MAX_SEQS = 16;
/** Times that each text is sent. */
const LAPS = 4;
const QUICK_LAPS = 1;
/** Fraction of the rate that the engine reaches when all requests come at once. */
const LOAD = 0.5;
const MAX_MS_PER_WINDOW = 12_000;

/** The costs and gains of static batching's window. */
export const staticWindowSection: Section = {
  id: "static-window",
  title: "Static window",
  about:
    "Static batching waits for more requests before a batch starts, until the batch is full or the window has " +
    "passed. The ten texts come at random times, at half the rate that the engine reaches when all come at once. " +
    "Every window gets the same requests at the same times.",
  async run(context) {
    const { sequences, outputTokens, quick } = context.options;
    const windows = quick ? QUICK_WINDOWS_MS : WINDOWS_MS;
    const batchSize = sequences.findLast((count) => count <= MAX_SEQS) ?? MAX_SEQS;
    const cells: LoadCell[] = [];
    let arrivalsMs: number[] | null = null;
    let requestRate = NaN;
    for (const [i, windowMs] of windows.entries()) {
      const inEngine = (share: number, what: string) => context.progress((i + share) / windows.length, what);
      inEngine(0, `an engine with a window of ${windowMs} ms`);
      const engine = await context.openEngine({
        maxNumSeqs: batchSize,
        batchingMode: "static",
        batchWindowMs: windowMs,
        enablePrefixCaching: false,
      });
      const requests = await textRequests(engine, context, quick ? QUICK_LAPS : LAPS);
      const burst = () => runLoad(engine, requests, { signal: context.signal });
      if (!arrivalsMs) {
        await burst();
        requestRate = LOAD * servingMetrics(await burst()).request_throughput;
        arrivalsMs = poissonArrivalsMs(requests.length, requestRate, context.random);
      }
      const arrivals = arrivalsMs;
      const [measured] = await context.interleave(
        [windowMs],
        () => `a window of ${windowMs} ms`,
        (_, isWarmUp) =>
          isWarmUp ? burst() : runLoad(engine, requests, { requestRate, arrivalsMs: arrivals, signal: context.signal }),
        { progress: inEngine, mostMs: MAX_MS_PER_WINDOW },
      );
      await context.closeEngine(engine);
      const setup = { batching_mode: "static", batch_size: batchSize, batch_window_ms: windowMs } as const;
      cells.push(loadCell(setup, measured?.outcomes ?? []));
    }
    const pointsOf = (pick: (cell: LoadCell) => number) =>
      cells.map((cell) => [cell.batch_window_ms ?? NaN, pick(cell)] as const);
    return {
      charts: [
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
          `${cells[0]?.requests ?? 0} requests, ${formatFigure(requestRate)} a second, ` +
            `answers of ${outputTokens} tokens, batches of at most ${batchSize}`,
          cells,
          { "Window, ms": (cell) => cell.batch_window_ms, "mean batch": (cell) => cell.mean_batch },
        ),
      ],
      notes: ["Each window has an engine of its own, one after the other."],
      cells,
      data: { requestRate, arrivalsMs },
    };
  },
};
