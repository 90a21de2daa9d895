import type { Section } from "../bench-context.ts";
import { comparedWith, loadCell, type LoadCell } from "../../load/load-cell.ts";
import { runLoad, type LoadRequest } from "../../load/load.ts";
import { TEXT_PROMPTS, textPrompts } from "../../load/text-prompts.ts";
import { CELL_COLUMNS, cellFigures } from "../../report/cell-table.ts";
import { formatRatio, inTimes } from "../../report/format-figure.ts";

const MAX_SEQS = 16;
const MAX_CONCURRENCY = 32;
/** Times that each text is sent. 80 requests fill every batch of 1, 2, 4, 8 or 16 to the last; 40 those up to 8. */
const LAPS = 8;
const QUICK_LAPS = 4;

/** The ten texts by batch size and concurrency, against one by one. */
export const batchSizeSection: Section = {
  id: "batch-size",
  title: "Batch size",
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
    let promptTokens: number[] = [];
    for (const [i, batchSize] of batchSizes.entries()) {
      const inEngine = (share: number, what: string) => context.progress((i + share) / batchSizes.length, what);
      inEngine(0, `an engine for ${batchSize}`);
      const engine = await context.openEngine({ maxNumSeqs: batchSize, enablePrefixCaching: false });
      const prompts = await textPrompts(engine, context);
      promptTokens = prompts.map(({ length }) => length);
      const requests: LoadRequest[] = Array.from({ length: laps }, () => prompts)
        .flat()
        .map((prompt) => ({ prompt, outputTokens }));
      const few = requests.slice(0, Math.max(prompts.length, batchSize));
      const measured = await context.interleave(
        concurrencies,
        (concurrency) => `batch size ${batchSize}, ${concurrency} open`,
        (maxConcurrency, isWarmUp) =>
          runLoad(engine, isWarmUp ? few : requests, { maxConcurrency, signal: context.signal }),
        { progress: inEngine },
      );
      await context.closeEngine(engine);
      cells.push(...cellsOf(batchSize, measured));
    }
    const most = concurrencies.at(-1) ?? 1;
    const atMost = cells.filter(({ concurrency }) => concurrency === most);
    const best = atMost.reduce((a, b) => ((b.speed_up ?? 0) > (a.speed_up ?? 0) ? b : a));
    return {
      headlines: [
        {
          value: inTimes(formatRatio(best.speed_up ?? NaN, best.speed_up_spread ?? NaN)),
          label: `as fast as one by one, with batches of ${best.batch_size} and ${most} requests open`,
        },
        { value: formatRatio(best.efficiency ?? NaN), label: "efficiency: that, divided by the batch size" },
      ],
      charts: [
        {
          title: `Speed-up vs one by one, by batch size; ${most} requests open`,
          xName: "batch size",
          yName: "times",
          xScale: "linear",
          series: [
            { name: "measured", points: atMost.map((cell) => [cell.batch_size, cell.speed_up ?? NaN]) },
            { name: "ideal", points: batchSizes.map((size) => [size, size]) },
          ],
        },
      ],
      tables: [
        {
          title: `${numRequests} requests, answers of ${outputTokens} tokens`,
          columns: ["Batch size", "concurrency", "speed-up", "efficiency", ...CELL_COLUMNS],
          rows: cells.map((cell) => [
            cell.batch_size,
            cell.concurrency,
            formatRatio(cell.speed_up ?? NaN, cell.speed_up_spread ?? NaN),
            formatRatio(cell.efficiency ?? NaN),
            ...cellFigures(cell),
          ]),
        },
      ],
      notes: [
        "Each batch size has an engine of its own, and each engine its own measurement of one by one, in the same rounds.",
        ...batchSizes
          .filter((size) => numRequests % size !== 0)
          .map((size) => `${numRequests} requests don't fill the last batch of ${size}, which costs efficiency.`),
      ],
      cells,
      data: { promptTokens },
    };
  },
};

function cellsOf(
  batchSize: number,
  measured: readonly { readonly of: number; readonly outcomes: Parameters<typeof loadCell>[1] }[],
): LoadCell[] {
  const cells = measured.map(({ of, outcomes }) =>
    loadCell(
      { batching_mode: "continuous", batch_size: batchSize, concurrency: of, batch_window_ms: null, drafts: "off" },
      outcomes,
    ),
  );
  const [oneByOne] = cells;
  return cells.map((cell) => (oneByOne ? comparedWith(oneByOne, cell) : cell));
}

function orOne(counts: readonly number[]): readonly number[] {
  return counts.length > 0 ? counts : [1];
}
