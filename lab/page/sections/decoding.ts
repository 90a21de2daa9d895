import type { EngineConfig } from "../../../src/protocol/config.ts";
import type { BenchContext, Section } from "../bench-context.ts";
import type { BenchOptions } from "../bench-options.ts";
import type { SectionFindings } from "../../report/bench-result.ts";
import { formatFigure, formatRatio, formatSpread, growthNote, inTimes } from "../../report/format-figure.ts";
import { chartOf, tableOf } from "../../report/tables-and-charts.ts";
import { countsThatFit, DECODING, decodeTogether, type SamplingFields } from "../../load/decode-together.ts";
import { stepFigures } from "../../load/load-summary.ts";
import { mediansOf, spreadOf } from "../../statistics.ts";

interface DecodeCase {
  readonly sequences: number;
  /** [the engine's own] */
  readonly runAhead?: number;
  /** [greedy] */
  readonly sampling?: SamplingFields;
}

type Lengths = Pick<BenchOptions, "sequences" | "promptTokens" | "outputTokens">;

/**
 * Returns a line for each case, measured in rounds, and what its table and notes say.
 * @param casesOf of the numbers of sequences that fit the context
 */
async function measureCases<Case extends DecodeCase>(
  context: BenchContext,
  { sequences, promptTokens, outputTokens }: Lengths,
  casesOf: (counts: readonly number[]) => readonly Case[],
  name: (one: Case) => string,
  config: EngineConfig = {},
) {
  const engine = await context.openEngine({ ...DECODING, ...config });
  const { counts, notes } = countsThatFit(engine, sequences, promptTokens, outputTokens);
  const measured = await context.interleave(casesOf(counts), name, async (one) => {
    if (one.runAhead !== undefined) await engine.update({ runAhead: one.runAhead });
    const prompts = Array.from({ length: one.sequences }, () => context.prompt(promptTokens));
    return stepFigures(await decodeTogether(engine, prompts, outputTokens, context.signal, one.sampling));
  });
  const lines = measured.map(({ of, outcomes }) => {
    const rates = outcomes.map(({ tokensPerSecond }) => tokensPerSecond);
    const figures = mediansOf(outcomes);
    /** Of all steps; `stepMs` is the median step's. */
    const meanStepMs = (1000 * of.sequences) / figures.tokensPerSecond;
    return { ...of, ...figures, meanStepMs, spread: spreadOf(rates) };
  });
  return { lines, notes, title: `Decode steps, prompts of ${promptTokens} tokens, ${outputTokens} new ones` };
}

interface Rate {
  readonly tokensPerSecond: number;
  readonly spread: number;
}

function toBase(own: Rate, base: Rate | undefined): string {
  return formatRatio(own.tokensPerSecond / (base?.tokensPerSecond ?? NaN), own.spread, base?.spread ?? NaN);
}

/** Returns those of the counts that show something new, or the first one. */
function someOf(counts: readonly number[], few: readonly number[]): readonly number[] {
  const some = counts.filter((count) => few.includes(count));
  return some.length > 0 ? some : counts.slice(0, 1);
}

export const decodeSection: Section = {
  about: "Several sequences start together and share every step. Only steps in which all of them decode are counted.",
  run: (context) => measureDecode(context, context.options),
};

/** Measures other numbers of sequences, or longer prompts, than in the options. */
export async function measureDecode(
  context: BenchContext,
  lengths: Lengths,
  config: EngineConfig = {},
): Promise<SectionFindings> {
  const { lines, notes, title } = await measureCases(
    context,
    lengths,
    (counts) => counts.map((sequences) => ({ sequences })),
    ({ sequences }) => `${sequences} at once`,
    config,
  );
  type Line = (typeof lines)[number];
  const alone = lines.find(({ sequences }) => sequences === 1);
  // Not the fastest: that may be the one alone.
  const most = lines.reduce((a, b) => (b.sequences > a.sequences ? b : a));
  return {
    headlines: [
      [inTimes(toBase(most, alone)), `the speed of one sequence, with ${most.sequences} at once`],
      [`${formatFigure(most.tokensPerSecond)} tokens/s`, `all together, with ${most.sequences} at once`],
    ],
    charts: [
      chartOf(
        "Tokens per second by sequences at once",
        { x: "sequences at once", y: "tokens/s", xScale: "log" },
        {
          "all together": lines.map((line) => [line.sequences, line.tokensPerSecond]),
          each: lines.map((line) => [line.sequences, line.tokensPerSecond / line.sequences]),
        },
      ),
    ],
    tables: [
      tableOf<Line>(title, lines, {
        "At once": (line) => line.sequences,
        "tokens/s": (line) => line.tokensPerSecond,
        spread: (line) => formatSpread(line.spread),
        "vs one": (line) => toBase(line, alone),
        "step, ms": (line) => line.stepMs,
        "GPU, ms": (line) => line.gpuMs,
        "CPU, ms": (line) => line.cpuMs,
        "ms per token": (line) => 1000 / line.tokensPerSecond,
      }),
    ],
    notes: [
      ...notes,
      ...growthNote(
        "sequences",
        lines.map((line) => [line.sequences, line.stepMs]),
      ),
    ],
  };
}

const DEPTHS = [0, 1, 2, 3, 4];
const QUICK_DEPTHS = [0, 2];
/** More show nothing new: the longer a step, the less it matters when its tokens are known. */
const AHEAD_SEQUENCES = [1, 8, 64];

export const runAheadSection: Section = {
  about:
    "The same decoding at each depth. At 0 every step waits until the one before has its tokens in JavaScript, which a browser " +
    "looks for every millisecond or two.",
  async run(context) {
    const depths = context.options.quick ? QUICK_DEPTHS : DEPTHS;
    const { lines, notes, title } = await measureCases(
      context,
      context.options,
      (counts) =>
        someOf(counts, AHEAD_SEQUENCES).flatMap((sequences) => depths.map((runAhead) => ({ sequences, runAhead }))),
      ({ sequences, runAhead }) => `${sequences} at once, ${runAhead} ahead`,
    );
    type Line = (typeof lines)[number];
    const toWaiting = (line: Line) =>
      toBase(
        line,
        lines.find(({ sequences, runAhead }) => sequences === line.sequences && runAhead === 0),
      );
    const waiting = lines.find(({ runAhead }) => runAhead === 0);
    const best = lines
      .filter(({ sequences }) => sequences === waiting?.sequences)
      .reduce((a, b) => (b.tokensPerSecond > a.tokensPerSecond ? b : a));
    const pointsOf = (count: number) =>
      lines.flatMap((line) => (line.sequences === count ? [[line.runAhead, line.meanStepMs] as const] : []));
    return {
      headlines: [
        [inTimes(toWaiting(best)), `the tokens per second of waiting, ${best.runAhead} steps ahead`],
        ...(waiting && waiting.gpuMs !== null
          ? [[`${formatFigure(waiting.meanStepMs - waiting.gpuMs)} ms`, "of a step alone is waiting"] as const]
          : []),
      ],
      charts: [
        chartOf(
          "Time of a step by the steps that run ahead",
          { x: "steps ahead", y: "ms per step" },
          Object.fromEntries(lines.map(({ sequences }) => [`${sequences} at once`, pointsOf(sequences)])),
        ),
      ],
      tables: [
        tableOf<Line>(title, lines, {
          "At once": (line) => line.sequences,
          ahead: (line) => line.runAhead,
          "tokens/s": (line) => line.tokensPerSecond,
          spread: (line) => formatSpread(line.spread),
          "vs waiting": toWaiting,
          "step, ms": (line) => line.meanStepMs,
          "GPU, ms": (line) => line.gpuMs,
          "beside it, ms": (line) => (line.gpuMs === null ? null : Math.max(0, line.meanStepMs - line.gpuMs)),
        }),
      ],
      notes,
    };
  },
};

/** One alone, and more than a product's small kernels take. */
const SAMPLING_SEQUENCES = [1, 32];
const GREEDY = "greedy";
const KINDS: Readonly<Record<string, SamplingFields>> = {
  [GREEDY]: {},
  "temperature 1": { temperature: 1 },
  "top_k 50": { temperature: 1, top_k: 50 },
  "top_p 0.9": { temperature: 1, top_p: 0.9 },
  "min_p 0.05": { temperature: 1, min_p: 0.05 },
  "top_k and top_p": { temperature: 1, top_k: 50, top_p: 0.9 },
  penalties: { presence_penalty: 0.5, repetition_penalty: 1.2 },
  "20 logprobs": { logprobs: 20 },
};

export const samplingSection: Section = {
  about: "The same decoding with each way to draw tokens, all sequences in the same one.",
  async run(context) {
    const { lines, notes, title } = await measureCases(
      context,
      context.options,
      (counts) =>
        someOf(counts, SAMPLING_SEQUENCES).flatMap((sequences) =>
          Object.entries(KINDS).map(([kind, fields]) => ({ sequences, kind, sampling: { seed: 1, ...fields } })),
        ),
      ({ sequences, kind }) => `${kind}, ${sequences} at once`,
    );
    type Line = (typeof lines)[number];
    const ratio = (line: Line) => {
      const greedy = lines.find(({ sequences, kind }) => sequences === line.sequences && kind === GREEDY);
      return formatRatio(line.meanStepMs / (greedy?.meanStepMs ?? NaN), line.spread, greedy?.spread ?? NaN);
    };
    const dearest = lines.reduce((a, b) => (b.sequences === a.sequences && b.meanStepMs > a.meanStepMs ? b : a));
    return {
      headlines: [[inTimes(ratio(dearest)), `a greedy step's time, at most: ${dearest.kind}`]],
      tables: [
        tableOf<Line>(title, lines, {
          How: (line) => line.kind,
          "at once": (line) => line.sequences,
          "step, ms": (line) => line.meanStepMs,
          spread: (line) => formatSpread(line.spread),
          "vs greedy": ratio,
          "GPU, ms": (line) => line.gpuMs,
        }),
      ],
      notes,
    };
  },
};
