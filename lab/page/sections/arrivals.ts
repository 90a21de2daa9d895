import type { Section } from "../bench-context.ts";
import { formatFigure } from "../../report/format-figure.ts";
import { chartOf, tableOf } from "../../report/tables-and-charts.ts";
import { poissonArrivalsMs, runLoad } from "../../load/load.ts";
import { servingMetrics, type LoadRun, type ServingMetrics } from "../../load/serving-metrics.ts";

/** Rates as fractions of the throughput when all requests come at once, since useful rates differ between machines. */
const LOADS = [0.25, 0.5, 0.75, 1];
const QUICK_LOADS = [0.5];
const REQUESTS = 32;
const QUICK_REQUESTS = 8;

/** vLLM's serving benchmark: requests at random times. */
export const arrivalsSection: Section = {
  id: "arrivals",
  title: "Arrivals",
  about:
    "Requests come as a Poisson process, at fractions of the rate that the engine reaches when all of them come at once. " +
    "Names and definitions are those of vLLM's serving benchmark.",
  async run(context) {
    const { promptTokens, outputTokens, quick } = context.options;
    const count = quick ? QUICK_REQUESTS : REQUESTS;
    const loads = quick ? QUICK_LOADS : LOADS;
    const engine = await context.openEngine({ enablePrefixCaching: false });
    const send = (requestRate: number): Promise<LoadRun> =>
      runLoad(
        engine,
        Array.from({ length: count }, () => ({ prompt: context.prompt(promptTokens), outputTokens })),
        { requestRate, arrivalsMs: poissonArrivalsMs(count, requestRate, context.random), signal: context.signal },
      );

    context.progress(0, "warming up");
    await send(Infinity);
    context.progress(1 / (loads.length + 2), "all at once");
    const burst = servingMetrics(await send(Infinity));
    const lines: { name: string; metrics: ServingMetrics }[] = [];
    for (const [i, load] of loads.entries()) {
      const rate = load * burst.request_throughput;
      context.progress((i + 2) / (loads.length + 2), `${formatFigure(rate)} requests/s`);
      lines.push({ name: `${load} of it`, metrics: servingMetrics(await send(rate)) });
    }
    lines.push({ name: "all at once", metrics: burst });
    const light = lines[0]?.metrics ?? burst;
    return {
      headlines: [
        { value: `${formatFigure(light.p95_ttft_ms)} ms`, label: "to the first token (p95) at the lowest rate" },
        { value: `${formatFigure(burst.output_throughput)} tokens/s`, label: "when all come at once" },
      ],
      charts: [
        chartOf(
          "Inter-token latency by throughput, one point a rate",
          { x: "output tokens/s", y: "ms" },
          {
            p50: lines.map(({ metrics }) => [metrics.output_throughput, metrics.p50_itl_ms]),
            p95: lines.map(({ metrics }) => [metrics.output_throughput, metrics.p95_itl_ms]),
          },
        ),
      ],
      tables: [
        tableOf(
          `${count} requests, prompts of ${promptTokens} tokens, ${outputTokens} new ones; ms where nothing else is said`,
          lines,
          {
            Rate: ({ name }) => name,
            "req/s asked": ({ metrics }) => (metrics.request_rate === "inf" ? "∞" : metrics.request_rate),
            "tokens/s": ({ metrics }) => metrics.output_throughput,
            "mean batch": ({ metrics }) => metrics.batch_occupancy,
            "TTFT mean": ({ metrics }) => metrics.mean_ttft_ms,
            p50: ({ metrics }) => metrics.p50_ttft_ms,
            p95: ({ metrics }) => metrics.p95_ttft_ms,
            p99: ({ metrics }) => metrics.p99_ttft_ms,
            "TPOT mean": ({ metrics }) => metrics.mean_tpot_ms,
            "ITL p50": ({ metrics }) => metrics.p50_itl_ms,
            "ITL p99": ({ metrics }) => metrics.p99_itl_ms,
            "E2EL p50": ({ metrics }) => metrics.p50_e2el_ms,
          },
        ),
      ],
      data: lines.map(({ metrics }) => metrics),
    };
  },
};
