import type { BatchingMode } from "../../../src/protocol/config.ts";
import type { Section } from "../bench-context.ts";
import { sequencesUpTo } from "../bench-options.ts";
import { formatFigure, formatRatio, inTimes } from "../../report/format-figure.ts";
import { runLoad, type LoadRequest } from "../../load/load.ts";
import { comparedWith, loadCell, type LoadCell } from "../../load/load-cell.ts";
import { cellTable } from "../../report/cell-table.ts";
import { chartOf, tableOf } from "../../report/tables-and-charts.ts";
import { randomIntegers } from "../../seeded-random.ts";

const MODES: readonly BatchingMode[] = ["continuous", "static", "sequential"];
/** The engine's maxNumSeqs: enough for all. */
const BATCH_SIZE = 64;
/** More would take too long one after the other. */
const MAX_AT_ONCE = 32;
const QUICK_AT_ONCE = 4;
/** Questions of each reader. */
const ROUNDS = 3;
/** How long a static batch waits for others; here they all come at once. */
const BATCH_WINDOW_MS = 10;

/**
 * The three batching modes under the same requests.
 * @param words say what `shares` are: of the length asked for, the shortest and the longest answer's
 */
export function modesSection(words: string, shares: readonly [shortest: number, longest: number]): Section {
  return {
    about:
      "Each reader asks again when its answer has ended, so that their number stays constant. Answers have lengths " +
      `${words}. The three modes get the very same requests.`,
    async run(context) {
      const { promptTokens, outputTokens, quick } = context.options;
      const few = sequencesUpTo(MAX_AT_ONCE, context.options);
      const sequences = quick && few.includes(QUICK_AT_ONCE) ? [QUICK_AT_ONCE] : few;
      const engine = await context.openEngine({
        maxNumSeqs: BATCH_SIZE,
        batchWindowMs: BATCH_WINDOW_MS,
        enablePrefixCaching: false,
      });
      const cases = sequences.flatMap((count) => MODES.map((mode) => ({ count, mode })));
      const [shortest, longest] = shares.map((share) => Math.max(1, Math.round(share * outputTokens))) as [
        number,
        number,
      ];
      const lengths = new Map(
        sequences.map((count) => [count, randomIntegers(context.random, ROUNDS * count, shortest, longest)]),
      );
      const measured = await context.interleave(
        cases,
        ({ count, mode }) => `${mode}, ${count} at once`,
        async ({ count, mode }) => {
          await engine.update({ batchingMode: mode });
          const requests: LoadRequest[] = (lengths.get(count) ?? []).map((length) => ({
            prompt: context.prompt(promptTokens),
            outputTokens: length,
          }));
          return runLoad(engine, requests, { maxConcurrency: count, signal: context.signal });
        },
      );
      const plain = measured.map(({ of: { mode, count }, outcomes }) =>
        loadCell(
          {
            batching_mode: mode,
            batch_size: BATCH_SIZE,
            concurrency: count,
            batch_window_ms: mode === "static" ? BATCH_WINDOW_MS : null,
          },
          outcomes,
        ),
      );
      // No efficiency: the batch has room for more requests than there are.
      const cells = plain.map((cell) => ({
        ...comparedWith(cellOf(plain, "sequential", cell.concurrency), cell),
        efficiency: null,
      }));
      const rate = (mode: BatchingMode, count: number) => cellOf(cells, mode, count).output_tokens_per_s;
      const byMode = (figureOf: (cell: LoadCell) => number) =>
        Object.fromEntries(
          MODES.map((mode) => [mode, sequences.map((count) => [count, figureOf(cellOf(cells, mode, count))] as const)]),
        );
      const most = sequences.at(-1) ?? 1;
      const ratio = (to: BatchingMode, count: number) => {
        const [own, other] = [cellOf(cells, "continuous", count), cellOf(cells, to, count)];
        return formatRatio(own.output_tokens_per_s / other.output_tokens_per_s, own.spread, other.spread);
      };
      return {
        headlines: [
          [inTimes(ratio("sequential", most)), `continuous vs sequential, ${most} at once`],
          [inTimes(ratio("static", most)), `continuous vs static, ${most} at once`],
          [`${formatFigure(rate("continuous", most))} tokens/s`, "continuous"],
        ],
        charts: [
          chartOf(
            "Tokens per second by sequences at once",
            { x: "sequences at once", y: "tokens/s", xScale: "log" },
            byMode((cell) => cell.output_tokens_per_s),
          ),
          chartOf(
            "Time to first token (median) by sequences at once",
            { x: "sequences at once", y: "ms", xScale: "log" },
            byMode((cell) => cell.p50_ttft_ms),
          ),
        ],
        tables: [
          tableOf("Output tokens per second", sequences, {
            "At once": (count) => count,
            ...Object.fromEntries(MODES.map((mode) => [mode, (count: number) => rate(mode, count)])),
            "to static": (count) => ratio("static", count),
            "to sequential": (count) => ratio("sequential", count),
          }),
          cellTable("Wall time and latencies", cells, {
            "At once": (cell) => cell.concurrency,
            mode: (cell) => cell.batching_mode,
          }),
        ],
        notes: ["Under static and sequential batching the wait for one's turn is part of the time to first token."],
        cells,
      };
    },
  };
}

function cellOf(cells: readonly LoadCell[], mode: BatchingMode, concurrency: number | null): LoadCell {
  const found = cells.find((one) => one.batching_mode === mode && one.concurrency === concurrency);
  if (!found) throw new Error(`${mode} at ${concurrency} was not measured`);
  return found;
}
