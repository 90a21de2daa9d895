import type { BatchingMode } from "../../protocol/config.ts";
import type { Section } from "../bench-context.ts";
import type { BenchOptions } from "../bench-options.ts";
import { formatFigure, formatRatio, formatSpread } from "../report/format-figure.ts";
import { runLoad, type LoadRequest } from "../load/load.ts";
import { summarise } from "../load/load-summary.ts";
import { randomIntegers } from "../seeded-random.ts";

const MODES: readonly BatchingMode[] = ["continuous", "static", "sequential"];
/** More would take too long one after the other. */
const MOST_AT_ONCE = 32;
const QUICK_AT_ONCE = 4;
/** How long a static batch waits for others; here they all come at once. */
const BATCH_WINDOW_MS = 10;

/** The three batching modes under the same requests, with answers of different lengths. */
export const modesSection: Section = {
  id: "modes",
  title: "Batching modes",
  about:
    "Each reader asks again when its answer has ended, so that their number stays constant. Answers are between " +
    "half and one and a half times as long as asked. The three modes get the very same requests.",
  async run(context) {
    const { promptTokens, outputTokens } = context.options;
    const sequences = sequenceCounts(context.options);
    const engine = await context.openEngine({ batchWindowMs: BATCH_WINDOW_MS, enablePrefixCaching: false });
    const cases = sequences.flatMap((count) => MODES.map((mode) => ({ count, mode })));
    const lengths = new Map(
      sequences.map((count) => [
        count,
        randomIntegers(context.random, 2 * count, Math.ceil(outputTokens / 2), Math.floor(1.5 * outputTokens)),
      ]),
    );
    const measured = await context.interleave(
      cases,
      ({ count, mode }) => `${mode}, ${count} at once`,
      async ({ count, mode }) => {
        await engine.setBatchingMode(mode);
        const requests: LoadRequest[] = (lengths.get(count) ?? []).map((length) => ({
          prompt: context.prompt(promptTokens),
          outputTokens: length,
        }));
        return runLoad(engine, requests, { maxConcurrency: count, signal: context.signal });
      },
    );
    const summaries = measured.map(({ of, outcomes }) => ({ ...of, summary: summarise(outcomes) }));
    const summaryOf = (mode: BatchingMode, count: number) => {
      const found = summaries.find((one) => one.mode === mode && one.count === count);
      if (!found) throw new Error(`${mode} at ${count} was not measured`);
      return found.summary;
    };
    const rate = (mode: BatchingMode, count: number) =>
      summaryOf(mode, count).median((metrics) => metrics.output_throughput);
    const most = sequences.at(-1) ?? 1;
    const ratio = (count: number) => rate("continuous", count) / rate("sequential", count);
    return {
      headlines: [
        { value: `${formatRatio(ratio(most))} times`, label: `continuous vs sequential, ${most} at once` },
        {
          value: `${formatRatio(rate("continuous", most) / rate("static", most))} times`,
          label: `continuous over static, ${most} at once`,
        },
        { value: `${formatFigure(rate("continuous", most))} tokens/s`, label: "continuous" },
      ],
      charts: [
        {
          title: "Tokens per second by sequences at once",
          xName: "sequences at once",
          yName: "tokens/s",
          xScale: "log",
          series: MODES.map((mode) => ({ name: mode, points: sequences.map((count) => [count, rate(mode, count)]) })),
        },
        {
          title: "Time to first token (median) by sequences at once",
          xName: "sequences at once",
          yName: "ms",
          xScale: "log",
          series: MODES.map((mode) => ({
            name: mode,
            points: sequences.map((count) => [
              count,
              summaryOf(mode, count).median((metrics) => metrics.median_ttft_ms),
            ]),
          })),
        },
      ],
      tables: [
        {
          title: "Output tokens per second",
          columns: ["At once", "continuous", "static", "sequential", "to static", "to sequential", "spread"],
          rows: sequences.map((count) => [
            count,
            ...MODES.map((mode) => rate(mode, count)),
            formatRatio(rate("continuous", count) / rate("static", count)),
            formatRatio(ratio(count)),
            formatSpread(summaryOf("continuous", count).spread),
          ]),
        },
        {
          title: "Latencies, ms",
          columns: ["At once", "mode", "TTFT p50", "TTFT p95", "TPOT p50", "ITL p50", "ITL p95", "E2EL p50"],
          rows: sequences.flatMap((count) =>
            MODES.map((mode) => {
              const { median } = summaryOf(mode, count);
              return [
                count,
                mode,
                median((metrics) => metrics.p50_ttft_ms),
                median((metrics) => metrics.p95_ttft_ms),
                median((metrics) => metrics.p50_tpot_ms),
                median((metrics) => metrics.p50_itl_ms),
                median((metrics) => metrics.p95_itl_ms),
                median((metrics) => metrics.p50_e2el_ms),
              ];
            }),
          ),
        },
      ],
      blocks: [],
      notes: ["Under static and sequential batching the wait for one's turn is part of the time to first token."],
      data: summaries.map(({ mode, count, summary }) => ({ mode, sequences: count, runs: summary.runs })),
    };
  },
};

function sequenceCounts({ sequences, quick }: BenchOptions): number[] {
  const few = sequences.filter((count) => count <= MOST_AT_ONCE);
  const chosen = quick && few.includes(QUICK_AT_ONCE) ? [QUICK_AT_ONCE] : few;
  return chosen.length > 0 ? chosen : [MOST_AT_ONCE];
}
