import type { ChorusEngine } from "../../../src/protocol/engine.ts";
import type { StepReport } from "../../../src/protocol/reports.ts";
import type { BenchContext, Section } from "../bench-context.ts";
import { chartOf, tableOf } from "../../report/tables-and-charts.ts";
import { countsThatFit, DECODING, decodeTogether } from "../../load/decode-together.ts";
import { stepsOf } from "../../load/load.ts";
import { decodeSteps } from "../../load/load-summary.ts";
import { MODEL_SIZES } from "../../model/model-sizes.ts";
import { makeRandomModel } from "../../model/random-model.ts";
import { growthExponent, medianOf } from "../../statistics.ts";

const ROWS = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const QUICK_ROWS = [1, 8, 64];
const CONTEXTS = [16, 64, 128, 256, 512, 960];
const QUICK_CONTEXTS = [16, 128];
const VOCABULARIES = [512, 2048, 8192, 32768, 50257];
const QUICK_VOCABULARIES = [512, 8192];
const DECODED = 6;
const SHORT_PROMPT = 16;

interface Growth {
  readonly of: string;
  readonly unit: string;
  readonly xName: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

type Progress = (share: number, what: string) => void;
/** What grows, with what, and how to get steps at one x. */
interface StepGrowth extends Pick<Growth, "of" | "xName"> {
  readonly xs: readonly number[];
  readonly stepsAt: (x: number) => Promise<readonly StepReport[]>;
}

const PLAIN = { enablePrefixCaching: false } as const;

/** Step time and memory against each quantity that can grow. */
export const growthSection: Section = {
  id: "growth",
  title: "Growth",
  about:
    "The time of a step against its sequences, its rows, the context and the vocabulary, each with the others held still; " +
    "and what the GPU holds against the sequences it is made for.",
  async run(context) {
    const ofMemory = context.model.backend === "webgpu" ? [memoryBySequences] : [];
    const ofSteps = [bySequences, byRows, byContext, byVocabulary].map(
      (part) => async (_: BenchContext, progress: Progress) => stepMs(context, progress, await part(context)),
    );
    const parts = [...ofSteps, ...ofMemory];
    const growths: Growth[] = [];
    for (const [i, part] of parts.entries()) {
      growths.push(await part(context, (share, what) => context.progress((i + share) / parts.length, what)));
      await context.closeEngines();
    }
    return {
      charts: growths.map((growth) =>
        chartOf(titleOf(growth), { x: growth.xName, y: growth.unit }, { "": growth.points }),
      ),
      tables: [
        tableOf("How fast it grows", growths, {
          What: ({ of }) => of,
          with: ({ xName }) => xName,
          "as x to the": ({ points }) => growthExponent(points).toFixed(2),
        }),
        ...growths.map((growth) =>
          tableOf(titleOf(growth), growth.points, {
            [growth.xName]: ([x]) => x,
            [growth.unit]: ([, y]) => y,
            [`${growth.unit} each`]: ([x, y]) => y / x,
          }),
        ),
      ],
      notes: [
        "Growth of y with x: the k of y = c x^k that fits best over all points; 1 is linear, 0 not at all. A fixed cost " +
          "makes it less.",
      ],
      data: growths,
    };
  },
};

async function stepMs(context: BenchContext, progress: Progress, { of, xName, xs, stepsAt }: StepGrowth) {
  const measured = await context.interleave(
    xs,
    (x) => `${x} ${xName}`,
    async (x) => medianOf((await stepsAt(x)).map((step) => step.stepMs)),
    { progress },
  );
  return { of, unit: "ms", xName, points: measured.map(({ of: x, outcomes }) => [x, medianOf(outcomes)] as const) };
}

async function bySequences(context: BenchContext): Promise<StepGrowth> {
  const engine = await context.openEngine(DECODING);
  const { counts } = countsThatFit(engine, context.options.sequences, SHORT_PROMPT, DECODED);
  const stepsAt = (count: number) => {
    const prompts = Array.from({ length: count }, () => context.prompt(SHORT_PROMPT));
    return decodeTogether(engine, prompts, DECODED, context.signal);
  };
  return { of: "a decode step", xName: "sequences", xs: counts, stepsAt };
}

async function byRows(context: BenchContext): Promise<StepGrowth> {
  const xs = (context.options.quick ? QUICK_ROWS : ROWS).filter((count) => count < context.model.contextLength);
  const engine = await context.openEngine(PLAIN);
  const stepsAt = (rows: number) => stepsOf(engine, [context.prompt(rows)], 1, context.signal);
  return { of: "a prompt's step", xName: "rows", xs, stepsAt };
}

async function byContext(context: BenchContext): Promise<StepGrowth> {
  const longest = context.model.contextLength - DECODED;
  const xs = (context.options.quick ? QUICK_CONTEXTS : CONTEXTS).filter((tokens) => tokens <= longest);
  const engine = await context.openEngine(PLAIN);
  const stepsAt = (tokens: number) => decodedAlone(engine, context.prompt(tokens), context);
  return { of: "one sequence's decode step", xName: "context, tokens", xs, stepsAt };
}

async function byVocabulary(context: BenchContext): Promise<StepGrowth> {
  const xs = context.options.quick ? QUICK_VOCABULARIES : VOCABULARIES;
  const engines = new Map<number, ChorusEngine>();
  for (const vocabSize of xs) {
    const files = makeRandomModel({ ...MODEL_SIZES.tiny, vocabSize }, context.options.seed);
    engines.set(vocabSize, await context.openEngine(PLAIN, files));
  }
  const stepsAt = (vocabSize: number) => decodedAlone(engines.get(vocabSize), [1, 2, 3, 4], context);
  return { of: "a decode step of a tiny random model", xName: "vocabulary, tokens", xs, stepsAt };
}

async function decodedAlone(engine: ChorusEngine | undefined, prompt: number[], { signal }: BenchContext) {
  return engine ? decodeSteps(await stepsOf(engine, [prompt], DECODED, signal), 1) : [];
}

/** Measures the memory of an engine by its number of sequences, with cache for each one's whole context. */
async function memoryBySequences(
  { options, source, model, signal, withKernelLab }: BenchContext,
  progress: Progress,
): Promise<Growth> {
  progress(0, "memory");
  const blocksEach = Math.ceil(model.contextLength / model.blockSize);
  const configs = options.sequences.map((maxNumSeqs) => ({
    dtype: model.dtype,
    maxNumSeqs,
    numGpuBlocks: maxNumSeqs * blocksEach,
  }));
  const bytes = await withKernelLab(signal, (lab) => lab.gpuBytes(source, configs));
  const points = options.sequences.map((count, i) => [count, (bytes[i] ?? NaN) / 1e6] as const);
  return { of: "GPU memory, weights and all", unit: "MB", xName: "sequences of full context", points };
}

function titleOf({ of, unit, xName }: Growth): string {
  return `${of[0]?.toUpperCase()}${of.slice(1)}, ${unit}, by ${xName}`;
}
