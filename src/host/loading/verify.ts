import type { KernelChoice, OpenedBackend } from "../../backends/backend.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Platform } from "../platforms/platform.ts";
import type { FetchedModel } from "./fetch.ts";
import { KnownAnswers } from "./known-answers.ts";
import type { LoadGuard } from "./load-guard.ts";
import type { LoadedIntoMemory } from "./load-into-memory.ts";
import { disposeOf, loadRightKernels, type LoadedRightKernels } from "./load-right-kernels.ts";

/**
 * Places a model with kernels whose known answers are right.
 * @param place places it with a choice of kernels
 * @throws ChorusError wrong_answers, of the weights, or of the device; then nothing is held
 */
export function verify(
  place: (kernels: KernelChoice) => Promise<LoadedIntoMemory>,
  backend: OpenedBackend,
  { weights, vocabSize, checking }: FetchedModel,
  requested: ResolvedEngineConfig,
  platform: Platform,
  guard: LoadGuard,
): Promise<LoadedRightKernels> {
  const answersOf = (engine: ResolvedEngineConfig) => new KnownAnswers({ weights, engine, vocabSize, platform });
  const answers = answersOf(requested);
  const check = async ({ runner, engineConfig }: LoadedIntoMemory) => {
    await checking; // else a damaged file would be the adapter's fault
    const own = engineConfig === requested ? answers : answersOf(engineConfig);
    return guard.wait(() => own.wrongAnswersOf(runner));
  };
  const loading = guard.keep(loadRightKernels(place, check), disposeOf);
  if (backend.name !== platform.reference?.name) void answers.prepare(backend.adapterName);
  return loading;
}
