import type { Section } from "../bench-context.ts";
import { comparedWith, loadCell, type LoadCell } from "../../load/load-cell.ts";
import { runLoad } from "../../load/load.ts";
import { TEXT_PROMPTS, textRequests } from "../../load/text-prompts.ts";
import { cellTable } from "../../report/cell-table.ts";
import { formatRatio, inTimes } from "../../report/format-figure.ts";
import { chartOf } from "../../report/tables-and-charts.ts";

const MAX_SEQS = 16;
const MAX_CONCURRENCY = 32;
/** Times that each text is sent. 80 requests fill every batch of 1, 2, 4, 8 or 16 to the last; 40 those up to 8. */
const LAPS = 8;
const QUICK_LAPS = 4;

export const batchSizeSection: Section = {
  about:
    "Clients send ten texts over and over. The batch size is the most sequences that the engine runs at once " +
    "(maxNumSeqs); the concurrency is the most requests that the clients have open. One by one is a concurrency " +
    "of one. Efficiency is the speed-up over that, divided by the batch size.",
  async run(context) {
    const { sequences, outputTokens, quick } = context.options;
    const batchSizes = orOne(sequences.filter((count) => count <= MAX_SEQS));
    const concurrencies = [...new Set([1, ...sequences.filter((count) => count <= MAX_CONCURRENCY)])];
    const laps = quick ? QUICK_LAPS : LAPS;
    const numRequests = laps * TEXT_PROMPTS.length;
    const cells: LoadCell[] = [];
    for (const [i, batchSize] of batchSizes.entries()) {
      const inEngine = (share: number, what: string) => context.progress((i + share) / batchSizes.length, what);
      inEngine(0, `an engine for ${batchSize}`);
      const engine = await context.openEngine({ maxNumSeqs: batchSize, enablePrefixCaching: false });
      const requests = await textRequests(engine, context, laps);
      const few = requests.slice(0, Math.max(TEXT_PROMPTS.length, batchSize));
      const measured = await context.interleave(
        concurrencies,
        (concurrency) => `batch size ${batchSize}, ${concurrency} open`,
        (maxConcurrency, isWarmUp) =>
          runLoad(engine, isWarmUp ? few : requests, { maxConcurrency, signal: context.signal }),
        { progress: inEngine },
      );
      await context.closeEngine(engine);
      const own = measured.map(({ of, outcomes }) => loadCell({ batch_size: batchSize, concurrency: of }, outcomes));
      cells.push(...own.map((cell) => comparedWith(own[0], cell)));
    }
    const most = concurrencies.at(-1) ?? 1;
    const atMost = cells.filter(({ concurrency }) => concurrency === most);
    const best = atMost.reduce((a, b) => ((b.speed_up ?? 0) > (a.speed_up ?? 0) ? b : a));
    return {
      headlines: [
        [inTimes(speedUp(best)), `as fast as one by one, with batches of ${best.batch_size} and ${most} requests open`],
        [formatRatio(best.efficiency ?? NaN), "efficiency: that, divided by the batch size"],
      ],
      charts: [
        chartOf(
          `Speed-up vs one by one, by batch size; ${most} requests open`,
          { x: "batch size", y: "times" },
          {
            measured: atMost.map((cell) => [cell.batch_size, cell.speed_up ?? NaN]),
            ideal: batchSizes.map((size) => [size, size]),
          },
        ),
      ],
      tables: [
        cellTable(`${numRequests} requests, answers of ${outputTokens} tokens`, cells, {
          "Batch size": (cell) => cell.batch_size,
          concurrency: (cell) => cell.concurrency,
          "speed-up": speedUp,
          efficiency: (cell) => formatRatio(cell.efficiency ?? NaN),
        }),
      ],
      notes: [
        "Each batch size has an engine of its own, and each engine its own measurement of one by one, in the same rounds.",
        ...batchSizes
          .filter((size) => numRequests % size !== 0)
          .map((size) => `${numRequests} requests don't fill the last batch of ${size}, which costs efficiency.`),
      ],
      cells,
    };
  },
};

function speedUp({ speed_up, speed_up_spread }: LoadCell): string {
  return formatRatio(speed_up ?? NaN, speed_up_spread ?? NaN);
}

function orOne(counts: readonly number[]): readonly number[] {
  return counts.length > 0 ? counts : [1];
}
