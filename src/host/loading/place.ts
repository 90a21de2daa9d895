import type { CheckDraws, LoadOptions, OpenedBackend } from "../../backends/backend.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { dtypesOf } from "../../models/weight-layouts.ts";
import { loadDraftModel } from "./draft-model.ts";
import type { FetchedModel } from "./fetch.ts";
import type { LoadGuard, WeightsReader } from "./load-guard.ts";
import { loadIntoMemory, type LoadedIntoMemory, type LoadedRunners } from "./load-into-memory.ts";
import { readProgress } from "./read-progress.ts";
import { commonDraws } from "./common-draws.ts";
import { areDrawsRight } from "./known-draws.ts";

/**
 * Places a model, and what drafts for it, in the device's memory, with as large a cache as there is room for.
 * @throws ChorusError of the device; then nothing is held
 */
export function place(
  backend: OpenedBackend,
  { weights, draftWeights, vocabSize, defaults }: FetchedModel,
  requested: ResolvedEngineConfig,
  { tuning, ...chosen }: Required<Pick<LoadOptions, "kernels" | "tuning" | "trials">>,
  guard: LoadGuard,
): Promise<LoadedIntoMemory> {
  guard.signal.throwIfAborted();
  const onKernel = (done: number, total: number) => guard.report({ stage: "kernels", done, total });
  const checkDraws: CheckDraws = (runner, slot, kind) => areDrawsRight({ runner, slot, vocabSize }, kind);
  const options = { ...chosen, vocabSize, onKernel, draws: commonDraws(defaults), checkDraws };
  const loadOnce = async (engine: ResolvedEngineConfig): Promise<LoadedRunners> => {
    const onRead = readProgress([weights, ...(draftWeights ? [draftWeights] : [])], guard.report);
    const runner = await guard.wait(
      (read) => backend.load({ ...options, weights: read(weights, onRead), engine, tuning }),
      (late) => late.dispose(),
    );
    if (draftWeights === null) return { runner, draft: null };
    try {
      const loadDraft = (read: WeightsReader) => loadDraftModel(backend, read(draftWeights, onRead), engine, options);
      return { runner, draft: await guard.wait(loadDraft, (late) => late.runner.dispose()) };
    } catch (error) {
      runner.dispose();
      throw error;
    }
  };
  const { model } = weights;
  const weightBytes = () =>
    new Map(dtypesOf(model).map((dtype) => [dtype, backend.memory(model, { ...requested, dtype }).weightBytes]));
  return loadIntoMemory(requested, loadOnce, weightBytes);
}
