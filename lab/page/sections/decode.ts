import type { EngineConfig } from "../../../src/protocol/config.ts";
import type { BenchContext, Section } from "../bench-context.ts";
import type { SectionFindings } from "../../report/bench-result.ts";
import type { BenchOptions } from "../bench-options.ts";
import { formatFigure, formatRatio, formatSpread, inTimes } from "../../report/format-figure.ts";
import { countsThatFit, DECODING, decodeTogether } from "../../load/decode-together.ts";
import { stepFigures } from "../../load/load-summary.ts";
import { medianOf, spreadOf } from "../../statistics.ts";

/** Tokens per second and step time by number of decoding sequences. */
export const decodeSection: Section = {
  id: "decode",
  title: "Decode",
  about: "Several sequences start together and share every step. Only steps in which all of them decode are counted.",
  run: (context) => measureDecode(context, context.options),
};

/** Measures other numbers of sequences, or longer prompts, than in the options. */
export async function measureDecode(
  context: BenchContext,
  { sequences, promptTokens, outputTokens }: Pick<BenchOptions, "sequences" | "promptTokens" | "outputTokens">,
  config: EngineConfig = {},
): Promise<SectionFindings> {
  const engine = await context.openEngine({ ...DECODING, ...config });
  const { counts, notes } = countsThatFit(engine, sequences, promptTokens, outputTokens);
  const measured = await context.interleave(
    counts,
    (count) => `${count} at once`,
    async (count) => {
      const prompts = Array.from({ length: count }, () => context.prompt(promptTokens));
      const steps = await decodeTogether(engine, prompts, outputTokens, context.signal);
      return stepFigures(steps);
    },
  );
  const lines = measured.map(({ of, outcomes }) => ({
    sequences: of,
    tokensPerSecond: medianOf(outcomes.map((figures) => figures.tokensPerSecond)),
    spread: spreadOf(outcomes.map((figures) => figures.tokensPerSecond)),
    stepMs: medianOf(outcomes.map(({ stepMs }) => stepMs)),
    cpuMs: medianOf(outcomes.map(({ cpuMs }) => cpuMs)),
    gpuMs: outcomes.some(({ gpuMs }) => gpuMs === null) ? null : medianOf(outcomes.map(({ gpuMs }) => gpuMs ?? NaN)),
  }));
  const alone = lines.find((line) => line.sequences === 1);
  const toAlone = ({ tokensPerSecond, spread }: (typeof lines)[number]) =>
    formatRatio(tokensPerSecond / (alone?.tokensPerSecond ?? NaN), spread, alone?.spread ?? NaN);
  const best = lines.reduce((a, b) => (b.tokensPerSecond > a.tokensPerSecond ? b : a));
  return {
    headlines: [
      { value: inTimes(toAlone(best)), label: `the speed of one sequence, with ${best.sequences} at once` },
      { value: `${formatFigure(best.tokensPerSecond)} tokens/s`, label: `fastest, with ${best.sequences} at once` },
    ],
    charts: [
      {
        title: "Tokens per second by sequences at once",
        xName: "sequences at once",
        yName: "tokens/s",
        xScale: "log",
        series: [
          { name: "all together", points: lines.map((line) => [line.sequences, line.tokensPerSecond]) },
          { name: "each", points: lines.map((line) => [line.sequences, line.tokensPerSecond / line.sequences]) },
        ],
      },
    ],
    tables: [
      {
        title: `Decode steps, prompts of ${promptTokens} tokens, ${outputTokens} new ones`,
        columns: ["At once", "tokens/s", "spread", "vs one", "step, ms", "GPU, ms", "CPU, ms", "ms per token"],
        rows: lines.map((line) => [
          line.sequences,
          line.tokensPerSecond,
          formatSpread(line.spread),
          toAlone(line),
          line.stepMs,
          line.gpuMs,
          line.cpuMs,
          1000 / line.tokensPerSecond,
        ]),
      },
    ],
    notes,
    data: lines,
  };
}
