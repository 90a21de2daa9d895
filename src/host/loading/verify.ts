import { KERNEL_CHOICES, type KernelChoice, type OpenedBackend } from "../../backends/backend.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { ChorusError, toChorusError } from "../../protocol/errors.ts";
import type { Platform } from "../platforms/platform.ts";
import type { FetchedModel } from "./fetch.ts";
import { KnownAnswers } from "./known-answers.ts";
import type { LoadGuard } from "./load-guard.ts";
import type { LoadedIntoMemory } from "./load-into-memory.ts";

export interface LoadedRightKernels extends LoadedIntoMemory {
  /** For people: why these are not the default kernels; null if they are. */
  readonly notice: string | null;
}

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

/**
 * Loads with the adapter's default kernels; if it refuses them or their answers are wrong, with plainer ones.
 * @param check returns what is wrong, or null
 * @throws ChorusError wrong_answers if no kernels' answers are right; any error of `load` and `check`. Then nothing is held
 */
export async function loadRightKernels(
  load: (kernels: KernelChoice) => Promise<LoadedIntoMemory>,
  check: (loaded: LoadedIntoMemory) => Promise<string | null>,
): Promise<LoadedRightKernels> {
  let notice: string | null = null;
  let message = "";
  for (const choice of KERNEL_CHOICES) {
    const loaded = await load(choice).catch((error: unknown) => {
      const { code, message: why } = toChorusError(error);
      if (choice === KERNEL_CHOICES.at(-1) || code !== "kernel_refused") throw error;
      notice = `Some of the default kernels can't be used, so plainer, slower ones run. ${ADVICE} ${why.split("\n", 1)[0]}`;
      return null;
    });
    if (loaded === null) continue;
    const { adapterName } = loaded.runner;
    const fault = await check(loaded).catch((error: unknown) => {
      disposeOf(loaded);
      throw error;
    });
    if (fault === null) return { ...loaded, notice };
    disposeOf(loaded);
    notice = `${adapterName} computes wrong answers with its default kernels (${fault}). It runs plainer, slower ones. ${ADVICE}`;
    message = `${adapterName} computes wrong answers (${fault}), so it is not used. ${ADVICE}`;
  }
  throw new ChorusError("wrong_answers", message, "backend");
}

const ADVICE = "Updating the graphics driver or the browser may help.";

function disposeOf({ runner, draft }: LoadedIntoMemory): void {
  runner.dispose();
  draft?.runner.dispose();
}
