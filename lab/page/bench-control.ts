import { createStore } from "zustand/vanilla";

import { version } from "../../package.json";
import type { ModelSource } from "../../src/protocol/config.ts";
import { toErrorData } from "../../src/protocol/errors.ts";
import { isHubId } from "../../src/protocol/model-source.ts";
import { measureInWorker } from "../kernels/measure-in-worker.ts";
import { isSizeName, MODEL_SIZES } from "../model/model-sizes.ts";
import { makeRandomModel } from "../model/random-model.ts";
import { environmentOf } from "../report/bench-environment.ts";
import type { BenchResult, NamedSectionResult } from "../report/bench-result.ts";
import { sumOf } from "../statistics.ts";
import { BenchContext, type CreateEngine } from "./bench-context.ts";
import {
  EMBEDDED,
  MEASURE_SECONDS,
  measureOptions,
  SECTIONS,
  secondsOf,
  type BenchOptions,
  type SectionId,
} from "./bench-options.ts";
import { ALL_SECTIONS } from "./sections/all-sections.ts";

export interface BenchState {
  readonly status: "idle" | "running" | "done" | "stopped" | "failed";
  /** 0..1 */
  readonly share: number;
  /** The current measurement, or why it failed. */
  readonly what: string;
  readonly leftSeconds: number;
  readonly result: BenchResult | null;
}

interface BenchSetting {
  readonly createEngine: CreateEngine;
  /** The folder of the embedded model. */
  readonly embeddedModel: string;
  /** Name for display: "Chrome 142 on Linux". */
  readonly browser: string;
}

const NOTHING_RUN: BenchState = { status: "idle", share: 0, what: "", leftSeconds: 0, result: null };
/** The part of a bounded section's time that its rounds may take: the model is loaded twice before, and warmed up. */
const ROUNDS_SHARE = 0.7;

export class BenchControl {
  readonly store = createStore<BenchState>(() => NOTHING_RUN);
  readonly #setting: BenchSetting;
  #abort: AbortController | null = null;

  constructor(setting: BenchSetting) {
    this.#setting = setting;
  }

  /** Measures one number, in about MEASURE_SECONDS. */
  measure(options: BenchOptions): Promise<void> {
    return this.run(measureOptions(options), MEASURE_SECONDS);
  }

  /** @param mostSeconds if given, its one section is to take hardly longer, loading and warming up included */
  async run(options: BenchOptions, mostSeconds?: number): Promise<void> {
    if (this.#abort) return;
    const { signal } = (this.#abort = new AbortController());
    const warnings = new Set<string>();
    const watch = () => {
      if (document.hidden) warnings.add("The tab was hidden for a while: browsers slow background tabs.");
    };
    watch();
    document.addEventListener("visibilitychange", watch);
    this.store.setState({ ...NOTHING_RUN, status: "running" });
    try {
      await this.#runSections(options, signal, warnings, mostSeconds);
      this.store.setState({ status: "done", share: 1, what: "" });
    } catch (error) {
      const status = signal.aborted ? "stopped" : "failed";
      this.store.setState({ status, what: signal.aborted ? "" : toErrorData(error).message });
    } finally {
      document.removeEventListener("visibilitychange", watch);
      this.#abort = null;
    }
  }

  /** Stops the run and keeps its figures. */
  stop(): void {
    this.#abort?.abort();
  }

  /** Runs the sections one after the other, and shows the result after each. Rejects with the signal's reason when aborted. */
  async #runSections(options: BenchOptions, signal: AbortSignal, warnings: Set<string>, mostSeconds?: number) {
    const { createEngine, embeddedModel, browser } = this.#setting;
    const startMs = performance.now();
    const startedAt = new Date().toISOString();
    const spentSeconds = () => (performance.now() - startMs) / 1000;
    const expected = (id: SectionId) => mostSeconds ?? secondsOf(id, options);
    this.store.setState({ what: "loading the model", leftSeconds: sumOf(options.sections.map(expected)) });
    const source = modelSource(options.model, options.seed, embeddedModel);
    // Another seed: a random draft model of the same size must be another model.
    const draftSource = options.draft ? modelSource(options.draft, options.seed + 1, embeddedModel) : source;
    // Once, for its name and adapter, and to check that it loads.
    const { backend, dtype } = options;
    const engine = await createEngine({ model: source, ...(backend && { backend }), ...(dtype && { dtype }) });
    await engine.dispose();
    const { model } = engine;
    const leftOut = options.sections.filter((id) => model.backend !== "webgpu" && ALL_SECTIONS[id].needsWebGpu);
    if (leftOut.length > 0) {
      warnings.add(`Left out, as only a GPU has it: ${leftOut.map((id) => SECTIONS[id].title).join(", ")}.`);
    }
    const sections: NamedSectionResult[] = [];
    const showResult = () => {
      const environment = environmentOf(version, model, options, browser);
      const soFar = { sections: [...sections], warnings: [...warnings], seconds: spentSeconds() };
      this.store.setState({ result: { environment, options, startedAt, ...soFar } });
    };
    const chosen = options.sections.filter((id) => !leftOut.includes(id));
    const allSeconds = sumOf(chosen.map(expected));
    for (const [i, id] of chosen.entries()) {
      const beforeSeconds = sumOf(chosen.slice(0, i).map(expected));
      signal.throwIfAborted();
      const context = new BenchContext({
        options,
        createEngine,
        source,
        draftSource,
        model,
        measureKernels: (...given) => measureInWorker(signal, ...given),
        signal,
        ...(mostSeconds && { mostMs: ROUNDS_SHARE * 1000 * mostSeconds }),
        onProgress: (sectionShare, what) => {
          const share = (beforeSeconds + sectionShare * expected(id)) / allSeconds;
          // The first tenth shows how fast this machine is.
          const pace = share > 0.1 ? spentSeconds() / share : allSeconds;
          this.store.setState({
            share,
            what: `${SECTIONS[id].title}: ${what}`,
            leftSeconds: (1 - share) * pace,
          });
        },
      });
      sections.push(await context.measure({ id, ...SECTIONS[id], ...ALL_SECTIONS[id] }));
      showResult();
    }
    showResult();
  }
}

/** Returns an absolute URL, since the kernel lab's worker has another base. */
function modelSource(model: string, seed: number, embeddedModel: string): ModelSource {
  if (isSizeName(model)) return makeRandomModel(MODEL_SIZES[model], seed);
  const name = model === EMBEDDED ? embeddedModel : model;
  return isHubId(name) ? name : new URL(name, document.baseURI).href;
}
