import type { SpeculationConfig } from "../../../src/protocol/config.ts";
import type { ChorusEngine } from "../../../src/protocol/engine.ts";
import type { BenchContext, Section } from "../bench-context.ts";
import { sequencesUpTo } from "../bench-options.ts";
import { comparedWith, loadCell, type LoadCell } from "../../load/load-cell.ts";
import { runLoad } from "../../load/load.ts";
import { textRequests } from "../../load/text-prompts.ts";
import { cellTable } from "../../report/cell-table.ts";
import { formatRatio, inTimes } from "../../report/format-figure.ts";

const MAX_SEQS = 8;
/** Times that each text is sent. */
const LAPS = 2;
const QUICK_LAPS = 1;

type Drafts = LoadCell["drafts"];
const NAMES: Readonly<Record<Drafts, string>> = { off: "off", ngram: "n-gram", draft_model: "draft model" };

export const draftsSection: Section = {
  about:
    "The ten texts with speculation on and off: alone, and several at once. N-gram drafts are looked up in the " +
    "text, a draft model computes them. Acceptance is the share of the drafted tokens that were accepted.",
  async run(context) {
    const { outputTokens, quick, draft } = context.options;
    const batchSize = sequencesUpTo(MAX_SEQS, context.options).at(-1) ?? MAX_SEQS;
    const concurrencies = [...new Set([1, batchSize])];
    const engines = await openEngines(context, batchSize);
    const [{ engine: first }] = engines;
    const requests = await textRequests(first, context, quick ? QUICK_LAPS : LAPS);
    const measured = await context.interleave(
      concurrencies.flatMap((concurrency) => engines.map((one) => ({ ...one, concurrency }))),
      ({ drafts, concurrency }) => `drafts ${NAMES[drafts]}, ${concurrency} at once`,
      ({ engine, concurrency }) => runLoad(engine, requests, { maxConcurrency: concurrency, signal: context.signal }),
    );
    const plain = measured.map(({ of: { drafts, concurrency }, outcomes }) =>
      loadCell({ batch_size: batchSize, concurrency, drafts }, outcomes),
    );
    const cells = plain.map((cell) => comparedWith(plain[0], cell));
    const toOff = (cell: LoadCell) => {
      const off = cells.find(({ drafts, concurrency }) => drafts === "off" && concurrency === cell.concurrency);
      return formatRatio((off?.wall_ms ?? NaN) / cell.wall_ms, off?.spread ?? NaN, cell.spread);
    };
    return {
      headlines: cells
        .filter(({ drafts, concurrency }) => drafts !== "off" && concurrency === 1)
        .map((cell) => [inTimes(toOff(cell)), `as fast as with drafts off: ${NAMES[cell.drafts]}, one at once`]),
      tables: [
        cellTable(`${requests.length} requests, answers of ${outputTokens} tokens`, cells, {
          Drafts: (cell) => NAMES[cell.drafts],
          concurrency: (cell) => cell.concurrency,
          "acceptance, %": (cell) => (cell.acceptance === null ? null : 100 * cell.acceptance),
          "to off": toOff,
        }),
      ],
      notes: [
        draft === null
          ? "No draft model was named, so the model drafts for itself: every draft is right, and costs as much as a token."
          : `The draft model is ${draft}.`,
        "Accepted drafts come together. The inter-token latency is the gap between such groups; TPOT is the time per token.",
      ],
      cells,
    };
  },
};

/** Opens one after the other, so that trials at load have the machine to themselves. */
async function openEngines(context: BenchContext, maxNumSeqs: number) {
  const open = async (drafts: Drafts, speculation: SpeculationConfig | null) => ({
    drafts,
    engine: await context.openEngine({ maxNumSeqs, speculation, enablePrefixCaching: false }),
  });
  return [
    await open("off", null),
    await open("ngram", { method: "ngram" }),
    await open("draft_model", { method: "draft_model", model: context.draftSource }),
  ] as const satisfies readonly { readonly drafts: Drafts; readonly engine: ChorusEngine }[];
}
