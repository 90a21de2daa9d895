import { KERNEL_CHOICES, type KernelChoice } from "../../backends/backend.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { LoadedIntoMemory } from "./load-into-memory.ts";

export interface LoadedRightKernels extends LoadedIntoMemory {
  /** For people: why these are not the default kernels; null if they are. */
  readonly notice: string | null;
}

/**
 * Loads with the adapter's default kernels; if their answers are wrong, with plainer ones.
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
    const loaded = await load(choice);
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

/** Frees what was loaded. */
export function disposeOf({ runner, draft }: LoadedIntoMemory): void {
  runner.dispose();
  draft?.runner.dispose();
}
