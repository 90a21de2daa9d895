import type { Section } from "../bench-context.ts";
import { formatRatio, formatSpread, inTimes } from "../../report/format-figure.ts";
import { tableOf } from "../../report/tables-and-charts.ts";
import { countsThatFit, DECODING, decodeTogether } from "../../load/decode-together.ts";
import { runLoad } from "../../load/load.ts";
import { stepFigures } from "../../load/load-summary.ts";
import { ttftMs } from "../../load/serving-metrics.ts";
import { medianOf, spreadOf } from "../../statistics.ts";

const PROMPTS = [128, 512];
const QUICK_PROMPTS = [128];

/** What it brings to multiply quantised weights as integers. */
export const activationsSection: Section = {
  id: "activations",
  title: "Activations in integers",
  about:
    "The same work with activations in f32 and in integers of 8 bits, by turns. On the CPU each engine has one thread.",
  async run(context) {
    const { options, model } = context;
    const { promptTokens, outputTokens } = options;
    const dtype = options.dtype === "q4" ? "q4" : "q8";
    const open = (activationDtype: "f32" | "int8") =>
      context.openEngine({ ...DECODING, cpuThreads: 1, dtype, activationDtype });
    const engines = { f32: await open("f32"), int8: await open("int8") };
    const { counts, notes } = countsThatFit(engines.f32, options.sequences, promptTokens, outputTokens);
    const lengths = (options.quick ? QUICK_PROMPTS : PROMPTS).filter((length) => length < model.contextLength);
    const work = [
      ...counts.map((count) => ({ what: `${count} at once`, count, length: promptTokens, isPrompt: false })),
      ...lengths.map((length) => ({ what: `prompt of ${length}`, count: 1, length, isPrompt: true })),
    ];
    const measured = await context.interleave(
      work.flatMap((one) => (["f32", "int8"] as const).map((activations) => ({ ...one, activations }))),
      ({ what, activations }) => `${what}, ${activations}`,
      async ({ count, length, isPrompt, activations }) => {
        const engine = engines[activations];
        const prompts = Array.from({ length: count }, () => context.prompt(length));
        if (!isPrompt) {
          return stepFigures(await decodeTogether(engine, prompts, outputTokens, context.signal)).tokensPerSecond;
        }
        const requests = prompts.map((prompt) => ({ prompt, outputTokens: 1 }));
        const { records } = await runLoad(engine, requests, { signal: context.signal });
        return records[0] ? (1000 * length) / ttftMs(records[0]) : NaN;
      },
    );
    const lines = measured.flatMap(({ of, outcomes: floats }, i) => {
      const integers = measured[i + 1]?.outcomes;
      if (of.activations !== "f32" || !integers) return [];
      const [f32, int8] = [medianOf(floats), medianOf(integers)];
      const ratio = formatRatio(int8 / f32, spreadOf(integers), spreadOf(floats));
      return [{ what: of.what, f32, int8, ratio, spread: Math.max(spreadOf(integers), spreadOf(floats)) }];
    });
    const [first] = lines;
    return {
      headlines: first
        ? [{ value: inTimes(first.ratio), label: `the speed of f32, ${first.what}, weights in ${dtype}` }]
        : [],
      tables: [
        tableOf(`Weights in ${dtype}`, lines, {
          Work: (line) => line.what,
          "f32, tokens/s": (line) => line.f32,
          "int8, tokens/s": (line) => line.int8,
          spread: (line) => formatSpread(line.spread),
          "vs f32": (line) => line.ratio,
        }),
      ],
      notes,
      data: lines,
    };
  },
};
