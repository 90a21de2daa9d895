import type { ModelSource } from "../../src/protocol/config.ts";
import { isHubId } from "../../src/protocol/model-source.ts";
import type { ModelCard } from "../../src/protocol/reports.ts";
import { version } from "../../package.json";
import { BenchContext, type CreateEngine } from "./bench-context.ts";
import { EMBEDDED, secondsOf, type BenchOptions, type SectionId } from "./bench-options.ts";
import { withKernelLab } from "../kernels/open-kernel-lab.ts";
import { environmentOf } from "../report/bench-environment.ts";
import type { BenchResult, NamedSectionResult } from "../report/bench-result.ts";
import { isSizeName, MODEL_SIZES } from "../model/model-sizes.ts";
import { makeRandomModel } from "../model/random-model.ts";
import { ALL_SECTIONS } from "./sections/all-sections.ts";
import { sumOf } from "../statistics.ts";

/** The part of a bounded section's time that its rounds may take: the model is loaded twice before, and warmed up. */
const ROUNDS_SHARE = 0.7;

export interface RunBenchmarkOptions {
  readonly options: BenchOptions;
  readonly createEngine: CreateEngine;
  /** The folder of the embedded model. */
  readonly embeddedModel: string;
  /** Name for display: "Chrome 142 on Linux". */
  readonly browser: string;
  readonly signal: AbortSignal;
  /** For one section: how long it may take, loading and warming up included. [as long as it needs] */
  readonly mostSeconds?: number | undefined;
  /** `share` is that of the whole run, 0..1; `leftSeconds` is the estimated remaining time. */
  readonly onProgress: (share: number, what: string, leftSeconds: number) => void;
  /** Called with the result so far after each section. */
  readonly onResult: (result: BenchResult) => void;
}

/** Runs the chosen sections one after the other. Rejects with the signal's reason when aborted. */
export async function runBenchmark(run: RunBenchmarkOptions): Promise<BenchResult> {
  const { options, createEngine, signal, onProgress } = run;
  const startMs = performance.now();
  const startedAt = new Date().toISOString();
  const warnings = new Set<string>();
  const watch = () => {
    if (document.hidden) warnings.add("The tab was hidden for a while: browsers slow background tabs.");
  };
  watch();
  document.addEventListener("visibilitychange", watch);
  try {
    const expected = (id: SectionId) => run.mostSeconds ?? secondsOf(id, options);
    onProgress(0, "loading the model", sumOf(options.sections.map(expected)));
    const source = modelSource(options.model, options.seed, run.embeddedModel);
    // Another seed: a random draft model of the same size must be another model.
    const draftSource = options.draft ? modelSource(options.draft, options.seed + 1, run.embeddedModel) : source;
    const model = await loadOnce(createEngine, source, options);
    const sections: NamedSectionResult[] = [];
    const result = (): BenchResult => ({
      environment: environmentOf(version, model, options, run.browser),
      options,
      startedAt,
      seconds: (performance.now() - startMs) / 1000,
      sections: [...sections],
      warnings: [...warnings],
    });
    const selected = ALL_SECTIONS.filter(({ id }) => options.sections.includes(id));
    const leftOut = model.backend === "webgpu" ? [] : selected.filter(({ needsWebGpu }) => needsWebGpu);
    if (leftOut.length > 0) {
      warnings.add(`Left out, as only a GPU has it: ${leftOut.map(({ title }) => title).join(", ")}.`);
    }
    const chosen = selected.filter((section) => !leftOut.includes(section));
    const seconds = chosen.map(({ id }) => expected(id));
    const allSeconds = sumOf(seconds);
    for (const [i, section] of chosen.entries()) {
      const beforeSeconds = sumOf(seconds.slice(0, i));
      signal.throwIfAborted();
      const sectionStartMs = performance.now();
      const context = new BenchContext({
        options,
        createEngine,
        source,
        draftSource,
        model,
        withKernelLab,
        signal,
        ...(run.mostSeconds && { mostMs: ROUNDS_SHARE * 1000 * run.mostSeconds }),
        onProgress: (share, what) => {
          const done = (beforeSeconds + share * (seconds[i] ?? 0)) / allSeconds;
          // The first tenth shows how fast this machine is.
          const spentSeconds = (performance.now() - startMs) / 1000;
          const pace = done > 0.1 ? spentSeconds / done : allSeconds;
          onProgress(done, `${section.title}: ${what}`, (1 - done) * pace);
        },
      });
      try {
        const findings = await section.run(context);
        sections.push(context.resultOf(section, (performance.now() - sectionStartMs) / 1000, findings));
        run.onResult(result());
      } finally {
        await context.closeEngines();
      }
    }
    return result();
  } finally {
    document.removeEventListener("visibilitychange", watch);
  }
}

/** Returns an absolute URL, since the kernel lab's worker has another base. */
function modelSource(model: string, seed: number, embeddedModel: string): ModelSource {
  if (isSizeName(model)) return makeRandomModel(MODEL_SIZES[model], seed);
  const name = model === EMBEDDED ? embeddedModel : model;
  return isHubId(name) ? name : new URL(name, document.baseURI).href;
}

/** Loads the model once, for its name and adapter, and to check that it loads. */
async function loadOnce(
  createEngine: CreateEngine,
  model: ModelSource,
  { backend, dtype }: BenchOptions,
): Promise<ModelCard> {
  const engine = await createEngine({ model, ...(backend && { backend }), ...(dtype && { dtype }) });
  await engine.dispose();
  return engine.model;
}
