import type { LoadProgress, LoadStage } from "../../../src/protocol/reports.ts";
import type { BenchContext, Section } from "../bench-context.ts";
import { formatFigure, formatSpread } from "../../report/format-figure.ts";
import { runLoad } from "../../load/load.ts";
import { medianOf, spreadOf } from "../../statistics.ts";

const STAGES: readonly LoadStage[] = ["adapter", "tokenizer", "weights", "memory", "kernels", "cache"];

interface StartUp {
  /** When each stage ended, ms from the call. */
  readonly stageMs: ReadonlyMap<LoadStage, number>;
  readonly readyMs: number;
  readonly firstTokenMs: number;
  readonly pipelines: number;
}

/** Repeats createEngine until the first token; all but the first time with warm caches. */
export const startupSection: Section = {
  id: "startup",
  title: "Start-up",
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
    const median = (pick: (start: StartUp) => number) => medianOf(starts.map(pick));
    const readyMs = median((start) => start.readyMs);
    const firstTokenMs = median((start) => start.firstTokenMs);
    const pipelines = starts[0]?.pipelines ?? 0;
    return {
      headlines: [
        { value: `${formatFigure(firstTokenMs / 1000)} s`, label: "to the first token" },
        { value: String(pipelines), label: "pipelines compiled" },
      ],
      tables: [
        {
          title: "Milliseconds from createEngine, median; the stages overlap",
          columns: ["Until", "ms", "spread"],
          rows: [
            ...STAGES.map((stage) => {
              const times = starts.map(({ stageMs }) => stageMs.get(stage) ?? NaN);
              return [STAGE_NAMES[stage], medianOf(times), formatSpread(spreadOf(times))];
            }),
            ["createEngine resolves", readyMs, formatSpread(spreadOf(starts.map((start) => start.readyMs)))],
            ["first token", firstTokenMs, formatSpread(spreadOf(starts.map((start) => start.firstTokenMs)))],
          ],
        },
      ],
      notes: ["The browser may still have the compiled pipelines and the model's files of the load before."],
      data: starts.map((start) => ({ ...start, stageMs: Object.fromEntries(start.stageMs) })),
    };
  },
};

const STAGE_NAMES: Readonly<Record<LoadStage, string>> = {
  adapter: "worker and device are there",
  tokenizer: "the tokenizer's file is there",
  weights: "the weights' file is there",
  memory: "the weights are read into memory",
  kernels: "kernels are compiled",
  cache: "the cache is made",
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
