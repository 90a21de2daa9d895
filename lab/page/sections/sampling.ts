import type { Section } from "../bench-context.ts";
import { formatRatio, formatSpread, inTimes } from "../../report/format-figure.ts";
import { countsThatFit, DECODING, decodeTogether } from "../../load/decode-together.ts";
import type { SamplingFields } from "../../load/load.ts";
import { stepFigures } from "../../load/load-summary.ts";
import { medianOf, spreadOf } from "../../statistics.ts";

/** One alone, and more than a product's small kernels take. */
const SEQUENCES = [1, 32];

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

/** The costs of the ways to draw a token, as part of a step. */
export const samplingSection: Section = {
  id: "sampling",
  title: "Sampling",
  about: "The same decoding with each way to draw tokens, all sequences in the same one.",
  async run(context) {
    const { sequences, promptTokens, outputTokens } = context.options;
    const engine = await context.openEngine(DECODING);
    const { counts: fitting, notes } = countsThatFit(engine, sequences, promptTokens, outputTokens);
    const some = fitting.filter((count) => SEQUENCES.includes(count));
    const cases = (some.length > 0 ? some : fitting.slice(0, 1)).flatMap((count) =>
      Object.entries(KINDS).map(([kind, fields]) => ({ count, kind, fields })),
    );
    const measured = await context.interleave(
      cases,
      ({ count, kind }) => `${kind}, ${count} at once`,
      async ({ count, fields }) => {
        const prompts = Array.from({ length: count }, () => context.prompt(promptTokens));
        const steps = await decodeTogether(engine, prompts, outputTokens, context.signal, { seed: 1, ...fields });
        const { tokensPerSecond, gpuMs } = stepFigures(steps);
        return { stepMs: (1000 * count) / tokensPerSecond, gpuMs };
      },
    );
    const lines = measured.map(({ of: { count, kind }, outcomes }) => ({
      count,
      kind,
      stepMs: medianOf(outcomes.map(({ stepMs }) => stepMs)),
      spread: spreadOf(outcomes.map(({ stepMs }) => stepMs)),
      gpuMs: outcomes.some(({ gpuMs }) => gpuMs === null) ? null : medianOf(outcomes.map(({ gpuMs }) => gpuMs ?? NaN)),
    }));
    const ratio = ({ count, stepMs, spread }: (typeof lines)[number]) => {
      const greedy = lines.find((line) => line.count === count && line.kind === GREEDY);
      return formatRatio(stepMs / (greedy?.stepMs ?? NaN), spread, greedy?.spread ?? NaN);
    };
    const dearest = lines.reduce((a, b) => (b.count === a.count && b.stepMs > a.stepMs ? b : a));
    return {
      headlines: [{ value: inTimes(ratio(dearest)), label: `a greedy step's time, at most: ${dearest.kind}` }],
      tables: [
        {
          title: `Decode steps, prompts of ${promptTokens} tokens, ${outputTokens} new ones`,
          columns: ["How", "at once", "step, ms", "spread", "vs greedy", "GPU, ms"],
          rows: lines.map((line) => [
            line.kind,
            line.count,
            line.stepMs,
            formatSpread(line.spread),
            ratio(line),
            line.gpuMs,
          ]),
        },
      ],
      notes,
      data: lines,
    };
  },
};
