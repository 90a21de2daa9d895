import type { LoadProgress, LoadStage } from "../../../src/protocol/reports.ts";
import type { BenchContext, Section } from "../bench-context.ts";
import { formatFigure, formatSpread } from "../../report/format-figure.ts";
import { tableOf } from "../../report/tables-and-charts.ts";
import { runLoad } from "../../load/load.ts";
import { medianOf, spreadOf } from "../../statistics.ts";

/** What has happened when a stage is over, in their order. */
const STAGES = {
  adapter: "worker and device are there",
  tokenizer: "the tokenizer's file is there",
  weights: "the weights' file is there",
  memory: "the weights are read into memory",
  kernels: "kernels are compiled",
  cache: "the cache is made",
} as const satisfies Readonly<Record<LoadStage, string>>;

interface StartUp {
  /** When each stage ended, ms from the call. */
  readonly stageMs: ReadonlyMap<LoadStage, number>;
  readonly readyMs: number;
  readonly firstTokenMs: number;
  readonly pipelines: number;
}

export const startupSection: Section = {
  about: "An engine is created and asked for one token, several times over: worker, device, files, kernels, cache.",
  async run(context) {
    const starts: StartUp[] = [];
    const count = context.options.repeats;
    for (let i = 0; i < count; i++) {
      context.progress(i / count, `start ${i + 1} of ${count}`);
      if (i > 0 && context.leftMs < (starts.at(-1)?.firstTokenMs ?? 0)) {
        context.note(`${i} of ${count} starts: there was no time for more.`);
        break;
      }
      starts.push(await startUp(context));
    }
    /** What came when, ms from the call. */
    const times: Readonly<Record<string, readonly number[]>> = {
      ...Object.fromEntries(
        Object.entries(STAGES).map(([stage, what]) => [
          what,
          starts.map(({ stageMs }) => stageMs.get(stage as LoadStage) ?? NaN),
        ]),
      ),
      "createEngine resolves": starts.map(({ readyMs }) => readyMs),
      "first token": starts.map(({ firstTokenMs }) => firstTokenMs),
    };
    const firstTokenMs = medianOf(starts.map((start) => start.firstTokenMs));
    const pipelines = starts[0]?.pipelines ?? 0;
    return {
      headlines: [
        [`${formatFigure(firstTokenMs / 1000)} s`, "to the first token"],
        [String(pipelines), "pipelines compiled"],
      ],
      tables: [
        tableOf("Milliseconds from createEngine, median; the stages overlap", Object.entries(times), {
          Until: ([what]) => what,
          ms: ([, ms]) => medianOf(ms),
          spread: ([, ms]) => formatSpread(spreadOf(ms)),
        }),
      ],
      notes: ["The browser may still have the compiled pipelines and the model's files of the load before."],
    };
  },
};

async function startUp(context: BenchContext): Promise<StartUp> {
  const stageMs = new Map<LoadStage, number>();
  let pipelines = 0;
  const startMs = performance.now();
  const engine = await context.openEngine({
    onProgress: ({ stage, total }: LoadProgress) => {
      stageMs.set(stage, performance.now() - startMs);
      if (stage === "kernels") pipelines = total;
    },
  });
  const readyMs = performance.now() - startMs;
  await runLoad(engine, [{ prompt: context.prompt(8), outputTokens: 1 }], { signal: context.signal });
  const firstTokenMs = performance.now() - startMs;
  await context.closeEngine(engine);
  return { stageMs, readyMs, firstTokenMs, pipelines };
}
