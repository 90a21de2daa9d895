import type { Section } from "../bench-context.ts";
import { formatFigure, formatRatio, formatSpread, inTimes } from "../../report/format-figure.ts";
import { countsThatFit, DECODING, decodeTogether } from "../../load/decode-together.ts";
import { stepFigures } from "../../load/load-summary.ts";
import { medianOf, spreadOf } from "../../statistics.ts";

const DEPTHS = [0, 1, 2, 3, 4];
const QUICK_DEPTHS = [0, 2];
/** More show nothing new: the longer a step, the less it matters when its tokens are known. */
const SEQUENCES = [1, 8, 64];

/** Tokens per second by the number of steps that are submitted before the tokens of the oldest are known. */
export const runAheadSection: Section = {
  id: "run-ahead",
  title: "Running ahead",
  about:
    "The same decoding at each depth. At 0 every step waits until the one before has its tokens in JavaScript, which a browser " +
    "looks for every millisecond or two.",
  async run(context) {
    const { sequences, promptTokens, outputTokens, quick } = context.options;
    const engine = await context.openEngine(DECODING);
    const { counts: fitting, notes } = countsThatFit(engine, sequences, promptTokens, outputTokens);
    const some = fitting.filter((count) => SEQUENCES.includes(count));
    const cases = (some.length > 0 ? some : fitting.slice(0, 1)).flatMap((count) =>
      (quick ? QUICK_DEPTHS : DEPTHS).map((depth) => ({ count, depth })),
    );
    const measured = await context.interleave(
      cases,
      ({ count, depth }) => `${count} at once, ${depth} ahead`,
      async ({ count, depth }) => {
        await engine.update({ runAhead: depth });
        const prompts = Array.from({ length: count }, () => context.prompt(promptTokens));
        const steps = await decodeTogether(engine, prompts, outputTokens, context.signal);
        return stepFigures(steps);
      },
    );
    const lines = measured.map(({ of, outcomes }) => ({
      ...of,
      tokensPerSecond: medianOf(outcomes.map((figures) => figures.tokensPerSecond)),
      spread: spreadOf(outcomes.map((figures) => figures.tokensPerSecond)),
      gpuMs: outcomes.some(({ gpuMs }) => gpuMs === null) ? null : medianOf(outcomes.map(({ gpuMs }) => gpuMs ?? NaN)),
    }));
    type Line = (typeof lines)[number];
    const counts = [...new Set(lines.map(({ count }) => count))];
    const stepMs = ({ count, tokensPerSecond }: Line) => (1000 * count) / tokensPerSecond;
    const toWaiting = ({ count, tokensPerSecond, spread }: Line) => {
      const waiting = lines.find((line) => line.count === count && line.depth === 0);
      return formatRatio(tokensPerSecond / (waiting?.tokensPerSecond ?? NaN), spread, waiting?.spread ?? NaN);
    };
    const waiting = lines.find(({ depth }) => depth === 0);
    const best = lines
      .filter(({ count }) => count === waiting?.count)
      .reduce((a, b) => (b.tokensPerSecond > a.tokensPerSecond ? b : a));
    return {
      headlines: [
        { value: inTimes(toWaiting(best)), label: `the tokens per second of waiting, ${best.depth} steps ahead` },
        ...(waiting && waiting.gpuMs !== null
          ? [{ value: `${formatFigure(stepMs(waiting) - waiting.gpuMs)} ms`, label: "of a step alone is waiting" }]
          : []),
      ],
      charts: [
        {
          title: "Time of a step by the steps that run ahead",
          xName: "steps ahead",
          yName: "ms per step",
          xScale: "linear",
          series: counts.map((count) => ({
            name: `${count} at once`,
            points: lines.filter((line) => line.count === count).map((line) => [line.depth, stepMs(line)] as const),
          })),
        },
      ],
      tables: [
        {
          title: `Decode steps, prompts of ${promptTokens} tokens, ${outputTokens} new ones`,
          columns: ["At once", "ahead", "tokens/s", "spread", "vs waiting", "step, ms", "GPU, ms", "beside it, ms"],
          rows: lines.map((line) => [
            line.count,
            line.depth,
            line.tokensPerSecond,
            formatSpread(line.spread),
            toWaiting(line),
            stepMs(line),
            line.gpuMs,
            line.gpuMs === null ? null : Math.max(0, stepMs(line) - line.gpuMs),
          ]),
        },
      ],
      notes,
      data: lines,
    };
  },
};
