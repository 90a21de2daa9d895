import type { BenchContext, Section } from "../bench-context.ts";
import type { ResultChart, ResultTable } from "../../report/bench-result.ts";
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

/** Step time and memory against each quantity that can grow. */
export const growthSection: Section = {
  id: "growth",
  title: "Growth",
  about:
    "The time of a step against its sequences, its rows, the context and the vocabulary, each with the others held still; " +
    "and what the GPU holds against the sequences it is made for.",
  async run(context) {
    const ofMemory = context.model.backend === "webgpu" ? [memoryBySequences] : [];
    const parts = [stepBySequences, stepByRows, stepByContext, stepByVocabulary, ...ofMemory];
    const growths: Growth[] = [];
    for (const [i, part] of parts.entries()) {
      const inPart = (share: number, what: string) => context.progress((i + share) / parts.length, what);
      growths.push(await part(context, inPart));
      await context.closeEngines();
    }
    return {
      charts: growths.map(chartOf),
      tables: [exponents(growths), ...growths.map(tableOf)],
      notes: [
        "Growth of y with x: the k of y = c x^k that fits best over all points; 1 is linear, 0 not at all. A fixed cost " +
          "makes it less.",
      ],
      data: growths,
    };
  },
};

type Progress = (share: number, what: string) => void;

async function stepBySequences(context: BenchContext, progress: Progress): Promise<Growth> {
  const engine = await context.openEngine(DECODING);
  const { counts } = countsThatFit(engine, context.options.sequences, SHORT_PROMPT, DECODED);
  const points = await medians(context, progress, counts, "sequences", async (count) => {
    const prompts = Array.from({ length: count }, () => context.prompt(SHORT_PROMPT));
    const steps = await decodeTogether(engine, prompts, DECODED, context.signal);
    return medianOf(steps.map(({ stepMs }) => stepMs));
  });
  return { of: "a decode step", unit: "ms", xName: "sequences", points };
}

async function stepByRows(context: BenchContext, progress: Progress): Promise<Growth> {
  const rows = (context.options.quick ? QUICK_ROWS : ROWS).filter((count) => count < context.model.contextLength);
  const engine = await context.openEngine({ enablePrefixCaching: false });
  const points = await medians(context, progress, rows, "rows", async (count) => {
    const steps = await stepsOf(engine, [context.prompt(count)], 1, context.signal);
    return medianOf(steps.map(({ stepMs }) => stepMs));
  });
  return { of: "a prompt's step", unit: "ms", xName: "rows", points };
}

async function stepByContext(context: BenchContext, progress: Progress): Promise<Growth> {
  const longest = context.model.contextLength - DECODED;
  const contexts = (context.options.quick ? QUICK_CONTEXTS : CONTEXTS).filter((tokens) => tokens <= longest);
  const engine = await context.openEngine({ enablePrefixCaching: false });
  const points = await medians(context, progress, contexts, "tokens of context", async (tokens) => {
    const steps = await stepsOf(engine, [context.prompt(tokens)], DECODED, context.signal);
    return medianOf(decodeSteps(steps, 1).map(({ stepMs }) => stepMs));
  });
  return { of: "one sequence's decode step", unit: "ms", xName: "context, tokens", points };
}

async function stepByVocabulary(context: BenchContext, progress: Progress): Promise<Growth> {
  const vocabularies = context.options.quick ? QUICK_VOCABULARIES : VOCABULARIES;
  const engines = new Map(
    await Promise.all(
      vocabularies.map(async (vocabSize) => {
        const files = makeRandomModel({ ...MODEL_SIZES.tiny, vocabSize }, context.options.seed);
        return [vocabSize, await context.openEngine({ enablePrefixCaching: false }, files)] as const;
      }),
    ),
  );
  const points = await medians(context, progress, vocabularies, "tokens of vocabulary", async (vocabSize) => {
    const engine = engines.get(vocabSize);
    if (!engine) throw new Error(`no engine for ${vocabSize}`);
    const steps = await stepsOf(engine, [[1, 2, 3, 4]], DECODED, context.signal);
    return medianOf(decodeSteps(steps, 1).map(({ stepMs }) => stepMs));
  });
  return { of: "a decode step of a tiny random model", unit: "ms", xName: "vocabulary, tokens", points };
}

/** Measures the memory of an engine by its number of sequences, with cache for each one's whole context. */
async function memoryBySequences(
  { options, source, model, signal, withKernelLab }: BenchContext,
  progress: Progress,
): Promise<Growth> {
  progress(0, "memory");
  const blocksEach = Math.ceil(model.contextLength / model.blockSize);
  const bytes = await withKernelLab(signal, (lab) =>
    lab.gpuBytes(
      source,
      options.sequences.map((maxNumSeqs) => ({
        dtype: model.dtype,
        maxNumSeqs,
        numGpuBlocks: maxNumSeqs * blocksEach,
      })),
    ),
  );
  const points = options.sequences.map((count, i) => [count, (bytes[i] ?? NaN) / 1e6] as const);
  return { of: "GPU memory, weights and all", unit: "MB", xName: "sequences of full context", points };
}

async function medians(
  context: BenchContext,
  progress: Progress,
  xs: readonly number[],
  what: string,
  measure: (x: number) => Promise<number>,
): Promise<[x: number, y: number][]> {
  const measured = await context.interleave(xs, (x) => `${x} ${what}`, measure, { progress });
  return measured.map(({ of, outcomes }) => [of, medianOf(outcomes)]);
}

function titleOf({ of, unit, xName }: Growth): string {
  return `${of[0]?.toUpperCase()}${of.slice(1)}, ${unit}, by ${xName}`;
}

function chartOf(growth: Growth): ResultChart {
  const { unit, xName, points } = growth;
  return { title: titleOf(growth), xName, yName: unit, xScale: "linear", series: [{ name: "", points }] };
}

function tableOf(growth: Growth): ResultTable {
  const { unit, xName, points } = growth;
  return {
    title: titleOf(growth),
    columns: [xName, unit, `${unit} each`],
    rows: points.map(([x, y]) => [x, y, y / x]),
  };
}

function exponents(growths: readonly Growth[]): ResultTable {
  return {
    title: "How fast it grows",
    columns: ["What", "with", "as x to the"],
    rows: growths.map(({ of, xName, points }) => [of, xName, growthExponent(points).toFixed(2)]),
  };
}
