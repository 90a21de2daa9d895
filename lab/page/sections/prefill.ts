import type { BenchContext, Section } from "../bench-context.ts";
import { formatFigure, formatSpread, growthNote } from "../../report/format-figure.ts";
import { chartOf, tableOf } from "../../report/tables-and-charts.ts";
import { runLoad } from "../../load/load.ts";
import { ttftMs } from "../../load/serving-metrics.ts";
import { medianOf, spreadOf } from "../../statistics.ts";

const LENGTHS = [32, 64, 128, 256, 512, 1024];
const QUICK_LENGTHS = [32, 128];

export const prefillSection: Section = {
  about: "One prompt on an idle engine, and one token: the time to it is the prompt's.",
  async run(context) {
    const engine = await context.openEngine({ enablePrefixCaching: false });
    const measured = await context.interleave(
      prefillLengths(context),
      (length) => `${length} tokens`,
      async (length) => {
        const request = { prompt: context.prompt(length), outputTokens: 1 };
        const { records } = await runLoad(engine, [request], { signal: context.signal });
        return records[0] ? ttftMs(records[0]) : NaN;
      },
    );
    const lines = measured.map(({ of, outcomes }) => ({
      promptTokens: of,
      ttftMs: medianOf(outcomes),
      spread: spreadOf(outcomes),
      tokensPerSecond: (1000 * of) / medianOf(outcomes),
    }));
    const best = lines.reduce((a, b) => (b.tokensPerSecond > a.tokensPerSecond ? b : a));
    return {
      headlines: [
        [`${formatFigure(best.tokensPerSecond)} tokens/s`, `fastest prompt, ${best.promptTokens} tokens long`],
      ],
      charts: [
        chartOf(
          "Prompt tokens per second by the prompt's length",
          { x: "prompt, tokens", y: "tokens/s", xScale: "log" },
          { prefill: lines.map((line) => [line.promptTokens, line.tokensPerSecond]) },
        ),
      ],
      tables: [
        tableOf("Time to first token of a prompt alone", lines, {
          "Prompt, tokens": (line) => line.promptTokens,
          "TTFT, ms": (line) => line.ttftMs,
          spread: (line) => formatSpread(line.spread),
          "tokens/s": (line) => line.tokensPerSecond,
        }),
      ],
      notes: [
        ...growthNote(
          "tokens",
          lines.map((line) => [line.promptTokens, line.ttftMs]),
        ),
      ],
    };
  },
};

function prefillLengths({ options, model }: BenchContext): number[] {
  const longest = model.contextLength - 1;
  const lengths = (options.quick ? QUICK_LENGTHS : LENGTHS).filter((length) => length <= longest);
  const isCutShort = !options.quick && !lengths.includes(longest) && longest < 1024;
  return isCutShort ? [...lengths, longest] : lengths;
}
