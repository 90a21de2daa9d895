// Runs the parts in a home, each within its share of the time that is left.

import { version } from "../../package.json";
import { openDevice } from "../../src/backends/gpu/device.ts";
import { BenchContext } from "../page/bench-context.ts";
import { readBenchOptions, type BenchOptions } from "../page/bench-options.ts";
import { KernelLab } from "../kernels/kernel-lab.ts";
import type { WithKernelLab } from "../kernels/open-kernel-lab.ts";
import { isSizeName, MODEL_SIZES } from "../model/model-sizes.ts";
import { makeRandomModel } from "../model/random-model.ts";
import { environmentOf } from "../report/bench-environment.ts";
import type { BenchEnvironment, NamedSectionResult } from "../report/bench-result.ts";
import { sumOf } from "../statistics.ts";
import { createEngine, type CreateEngineOptions } from "../../src/index.ts";
import type { ModelCard } from "../../src/protocol/reports.ts";
import { shareDevice } from "../../tests/gpu/shared-device.ts";
import { tampered } from "../../tests/gpu/tampered-gpu.ts";
import type { Home, HomeOptions, HomeReport } from "./home.ts";
import type { Part } from "./part.ts";
import { generalParts, modelParts } from "./parts.ts";

const GPU_MODELS = ["gpt2", "smollm2-135m"];
/** A software adapter would take minutes for a step of the others. */
const SOFTWARE_MODELS = ["tiny", "tiny-llama"];

/** Enough steps that a short one's time stands out of a coarse clock. */
const ON_GPU = "outputTokens=64&repeats=5";
const ON_SOFTWARE = "quick&outputTokens=8&repeats=3";
const SEQUENCES = "1,2,4,8,16,32,64";

/** A part is aborted after this many times its share, if it has not ended by itself. */
const MAX_OVER = 2.5;

/** Most time for engines to end. */
const CLOSE_MS = 3000;

/** @param tell called with the report after each part, and with the current activity */
export async function runParts(
  found: Home,
  { minutes, models, sequences, parts: requested, asHardware }: HomeOptions,
  notify: (report: HomeReport, what: string) => void,
): Promise<HomeReport> {
  const startMs = performance.now();
  const endMs = startMs + 60_000 * minutes;
  const adapter = await describeAdapter(found.gpu);
  const pretends = asHardware && adapter.isSoftware;
  const gpu = pretends ? tampered({ pretendHardware: true }, found.gpu) : found.gpu;
  // Compiling takes such an adapter longer than all measurements.
  const home = adapter.isSoftware ? { ...found, gpu: (await shareDevice(gpu)).gpu } : found;
  const isRequested = ({ id }: Part) => requested === null || requested.includes(id);
  const groups = [
    { model: null, parts: generalParts(home).filter(isRequested) },
    ...(models ?? (adapter.isSoftware ? SOFTWARE_MODELS : GPU_MODELS)).map((model) => ({
      model,
      parts: modelParts(home).filter(isRequested),
    })),
  ].filter(({ parts }) => parts.length > 0);
  const toCome = groups.flatMap(({ model, parts }) =>
    parts.map(({ title }) => (model === null ? title : `${model}: ${title}`)),
  );
  // The lab notices pipelines when they are compiled, so it needs engines without earlier ones.
  const run = new HomeRun({
    home,
    labGpu: gpu,
    adapterName: pretends ? `${adapter.name}, taken for a GPU` : adapter.name,
    options: readBenchOptions(
      new URLSearchParams(`${adapter.isSoftware ? ON_SOFTWARE : ON_GPU}&sequences=${sequences ?? SEQUENCES}`),
    ),
    startMs,
    endMs,
    toCome,
    notify,
  });
  let sharesLeft = sumOf(groups.flatMap(({ parts }) => parts.map(({ share }) => share)));
  for (const { model, parts } of groups) {
    run.begin(model);
    for (const part of parts) {
      await run.measure(part, part.share / sharesLeft);
      sharesLeft -= part.share;
    }
  }
  return run.report();
}

async function describeAdapter(gpu: GPU): Promise<{ name: string; isSoftware: boolean }> {
  const opened = await openDevice(gpu);
  opened.close();
  return { name: opened.adapterName, isSoftware: opened.isSoftware };
}

interface HomeRunParts {
  readonly home: Home;
  readonly labGpu: GPU;
  readonly adapterName: string;
  readonly options: BenchOptions;
  readonly startMs: number;
  readonly endMs: number;
  /** Names of all parts, in their order. */
  readonly toCome: readonly string[];
  readonly notify: (report: HomeReport, what: string) => void;
}

interface OpenGroup {
  readonly model: string | null;
  readonly files: File[];
  environment: BenchEnvironment | null;
  card: ModelCard | null;
  readonly sections: NamedSectionResult[];
}

class HomeRun {
  readonly #parts: HomeRunParts;
  readonly #groups: OpenGroup[] = [];
  readonly #missing: string[] = [];
  readonly #toCome: string[];

  constructor(parts: HomeRunParts) {
    this.#parts = parts;
    this.#toCome = [...parts.toCome];
  }

  begin(model: string | null): void {
    if (model !== null && !isSizeName(model)) throw new Error(`There is no size "${model}".`);
    const files = model === null ? [] : makeRandomModel(MODEL_SIZES[model], 0);
    this.#groups.push({ model, files, environment: null, card: null, sections: [] });
  }

  /** @param share of the time that is left */
  async measure(part: Part, share: number): Promise<void> {
    const group = this.#groups.at(-1);
    if (!group) throw new Error("no group was begun");
    const what = this.#toCome.shift() ?? part.title;
    const leftMs = this.#parts.endMs - performance.now();
    if (leftMs <= 0) {
      this.#missing.push(`${what}: left out, since the time was over.`);
      return;
    }
    this.#say(what);
    const startMs = performance.now();
    const partMs = share * leftMs;
    const signal = AbortSignal.timeout(Math.ceil(Math.min(leftMs, MAX_OVER * partMs)));
    // Not every wait for a GPU can be aborted.
    const cut = new Promise<never>((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
    const contextOf = (model: ModelCard | null) =>
      new BenchContext({
        options: { ...this.#parts.options, ...(group.model !== null && { model: group.model }) },
        createEngine: (options) => this.#createEngine(options),
        source: group.files,
        draftSource: group.files,
        model,
        withKernelLab: this.#withKernelLab,
        signal,
        budgetMs: partMs - (performance.now() - startMs),
        onProgress: (_, detail) => this.#say(`${what}: ${detail}`),
      });
    let context: BenchContext | null = null;
    try {
      context = contextOf(part.needsModel ? await Promise.race([this.#cardOf(group, signal), cut]) : null);
      const findings = await Promise.race([part.run(context), cut]);
      group.sections.push(context.resultOf(part, (performance.now() - startMs) / 1000, findings));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const seconds = Math.round((performance.now() - startMs) / 1000);
      this.#missing.push(signal.aborted ? `${what}: cut after ${seconds} s.` : `${what}: failed. ${reason}`);
    } finally {
      if (context)
        await Promise.race([context.closeEngines(), new Promise((resolve) => setTimeout(resolve, CLOSE_MS))]);
    }
    this.#say(what);
  }

  report(): HomeReport {
    const { home, adapterName, startMs } = this.#parts;
    const groups = this.#groups.map(({ model, environment, sections }) => ({
      model,
      environment,
      sections: [...sections],
    }));
    return {
      home: home.name,
      runtime: home.runtime,
      adapter: adapterName,
      seconds: (performance.now() - startMs) / 1000,
      groups,
      missing: [...this.#missing],
      toCome: [...this.#toCome],
    };
  }

  #say(what: string): void {
    this.#parts.notify(this.report(), what);
  }

  /** Creates the engine in this thread, so that it uses the given WebGPU. */
  #createEngine(options: CreateEngineOptions) {
    const { gpu } = this.#parts.home;
    return createEngine(
      options.backend === "cpu" ? { ...options, worker: false } : { ...options, backend: "webgpu", worker: false, gpu },
    );
  }

  readonly #withKernelLab: WithKernelLab = async (_, work) => {
    const lab = new KernelLab(this.#parts.labGpu);
    try {
      return await work(lab);
    } finally {
      lab.close();
    }
  };

  /** Loads the model once, after the part that measures its kernels. */
  async #cardOf(group: OpenGroup, signal: AbortSignal): Promise<ModelCard | null> {
    if (group.model === null) return null;
    if (group.card) return group.card;
    const engine = await this.#createEngine({ model: group.files, signal });
    await engine.dispose();
    const options = { ...this.#parts.options, model: group.model };
    group.environment = environmentOf(version, engine.model, options, this.#parts.home.runtime);
    return (group.card = engine.model);
  }
}
