// Runs the parts in a home, each within its share of the time that is left.

import { version } from "../../package.json";
import { openDevice } from "../../src/backends/gpu/device.ts";
import { BenchContext } from "../page/bench-context.ts";
import { readBenchOptions } from "../page/bench-options.ts";
import { measureKernels } from "../kernels/kernel-lab.ts";
import { isSizeName, MODEL_SIZES } from "../model/model-sizes.ts";
import { makeRandomModel } from "../model/random-model.ts";
import { environmentOf } from "../report/bench-environment.ts";
import type { BenchEnvironment, NamedSectionResult } from "../report/bench-result.ts";
import { sumOf } from "../statistics.ts";
import { createEngine, type CreateEngineOptions } from "../../src/index.ts";
import type { ModelCard } from "../../src/protocol/reports.ts";
import { untilAborted } from "../../src/protocol/until-aborted.ts";
import { shareDevice } from "../../tests/gpu/shared-device.ts";
import { tampered } from "../../tests/gpu/tampered-gpu.ts";
import type { Group, Home, HomeOptions, HomeReport } from "./home.ts";
import { PART_SHARES, type Part } from "./part.ts";
import { partsOf } from "./parts.ts";

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

interface OpenGroup extends Group {
  environment: BenchEnvironment | null;
  readonly sections: NamedSectionResult[];
}

/** @param notify called with the report after each part, and with the current activity */
export async function runParts(
  found: Home,
  { minutes, models, sequences, parts: requested, asHardware }: HomeOptions,
  notify: (report: HomeReport, what: string) => void,
): Promise<HomeReport> {
  const startMs = performance.now();
  const endMs = startMs + 60_000 * minutes;
  const adapter = await describeAdapter(found.gpu);
  const pretends = asHardware && adapter.isSoftware;
  const labGpu = pretends ? tampered({ pretendHardware: true }, found.gpu) : found.gpu;
  // Compiling takes such an adapter longer than all measurements. The lab notices pipelines when they are compiled, so it needs
  // engines without earlier ones.
  const home = adapter.isSoftware ? { ...found, gpu: (await shareDevice(labGpu)).gpu } : found;
  const options = readBenchOptions(
    new URLSearchParams(`${adapter.isSoftware ? ON_SOFTWARE : ON_GPU}&sequences=${sequences ?? SEQUENCES}`),
  );
  const isRequested = ({ id }: Part) => requested === undefined || requested.split(",").includes(id);
  const plan = [null, ...(models?.split(",") ?? (adapter.isSoftware ? SOFTWARE_MODELS : GPU_MODELS))]
    .map((model) => ({ model, parts: partsOf(model, home).filter(isRequested) }))
    .filter(({ parts }) => parts.length > 0);
  const toCome = plan.flatMap(({ model, parts }) =>
    parts.map(({ title }) => (model === null ? title : `${model}: ${title}`)),
  );
  const groups: OpenGroup[] = [];
  const missing: string[] = [];
  const report = (): HomeReport => ({
    home: home.name,
    runtime: home.runtime,
    adapter: pretends ? `${adapter.name}, taken for a GPU` : adapter.name,
    seconds: (performance.now() - startMs) / 1000,
    groups: groups.map((group) => ({ ...group, sections: [...group.sections] })),
    missing: [...missing],
    toCome: [...toCome],
  });
  const say = (what: string) => notify(report(), what);
  /** In this thread, so that the engine uses the given WebGPU. */
  const open = (given: CreateEngineOptions) =>
    createEngine({ ...given, worker: false, ...(given.backend !== "cpu" && { backend: "webgpu", gpu: home.gpu }) });
  let sharesLeft = sumOf(plan.flatMap(({ parts }) => parts.map(({ id }) => PART_SHARES[id])));
  for (const { model, parts } of plan) {
    if (model !== null && !isSizeName(model)) throw new Error(`There is no size "${model}".`);
    const files = model === null ? [] : makeRandomModel(MODEL_SIZES[model], 0);
    const ofModel = { ...options, ...(model !== null && { model }) };
    const group: OpenGroup = { model, environment: null, sections: [] };
    groups.push(group);
    let card: ModelCard | null = null;
    /** Loads the model once, after the part that measures its kernels. */
    const loadOnce = async (signal: AbortSignal) => {
      if (card || model === null) return card;
      const engine = await open({ model: files, signal });
      await engine.dispose();
      group.environment = environmentOf(version, engine.model, ofModel, home.runtime);
      return (card = engine.model);
    };
    for (const part of parts) {
      const what = toCome.shift() ?? part.title;
      const leftMs = endMs - performance.now();
      const partMs = (PART_SHARES[part.id] / sharesLeft) * leftMs;
      sharesLeft -= PART_SHARES[part.id];
      if (leftMs <= 0) {
        missing.push(`${what}: left out, since the time was over.`);
        continue;
      }
      say(what);
      const partStartMs = performance.now();
      const seconds = () => (performance.now() - partStartMs) / 1000;
      const signal = AbortSignal.timeout(Math.ceil(Math.min(leftMs, MAX_OVER * partMs)));
      let context: BenchContext | null = null;
      try {
        context = new BenchContext({
          options: ofModel,
          createEngine: open,
          source: files,
          draftSource: files,
          model: part.needsModel ? await untilAborted(loadOnce(signal), signal) : null,
          measureKernels: (...given) => measureKernels(labGpu, ...given),
          signal,
          budgetMs: partMs - 1000 * seconds(),
          onProgress: (_, detail) => say(`${what}: ${detail}`),
        });
        // Not every wait for a GPU can be aborted.
        group.sections.push(await untilAborted(context.measure(part), signal));
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        missing.push(signal.aborted ? `${what}: cut after ${Math.round(seconds())} s.` : `${what}: failed. ${reason}`);
      } finally {
        const limit = new Promise((resolve) => setTimeout(resolve, CLOSE_MS));
        await Promise.race([context?.closeEngines(), limit]);
      }
      say(what);
    }
  }
  return report();
}

async function describeAdapter(gpu: GPU): Promise<{ name: string; isSoftware: boolean }> {
  const opened = await openDevice(gpu);
  opened.close();
  return { name: opened.adapterName, isSoftware: opened.isSoftware };
}
