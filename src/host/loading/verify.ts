import type { KernelChoice, OpenedBackend } from "../../backends/backend.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Platform } from "../platforms/platform.ts";
import type { FetchedModel } from "./fetch.ts";
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
  const isReference = backend.name === platform.reference?.name;
  const answersOf = async (engine: ResolvedEngineConfig) => {
    const { KnownAnswers } = await import("./known-answers.ts"); // while weights arrive
    return new KnownAnswers({ weights, engine, vocabSize, platform });
  };
  const answers = isReference ? null : answersOf(requested);
  answers?.then(
    (known) => known.prepare(backend.adapterName),
    () => undefined, // the check below rejects as well
  );
  const check = async ({ runner, engineConfig }: LoadedIntoMemory) => {
    await checking; // else a damaged file would be the adapter's fault
    if (answers === null) return null;
    const own = await (engineConfig === requested ? answers : answersOf(engineConfig));
    return guard.wait(() => own.wrongAnswersOf(runner));
  };
  const loading = guard.keep(loadRightKernels(place, check), disposeOf);
  return loading;
}
