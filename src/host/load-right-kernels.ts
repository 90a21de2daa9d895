import { KERNEL_CHOICES, type KernelChoice } from "../backends/backend.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { LoadedIntoMemory } from "./load-into-memory.ts";

interface LoadedRightKernels extends LoadedIntoMemory {
  /** For people: why these are not the usual kernels; null if they are. */
  readonly notice: string | null;
}

/**
 * Loads with the adapter's usual kernels; if their answers are wrong, with plainer ones.
 * @param check returns what is wrong, or null
 * @throws ChorusError wrong_answers if no kernels' answers are right; any error of `load` and `check`. Then nothing is held
 */
export async function loadRightKernels(
  load: (kernels: KernelChoice) => Promise<LoadedIntoMemory>,
  check: (loaded: LoadedIntoMemory) => Promise<string | null>,
): Promise<LoadedRightKernels> {
  let notice: string | null = null;
  for (const choice of KERNEL_CHOICES) {
    const loaded = await load(choice);
    const { runner } = loaded;
    try {
      const fault = await check(loaded);
      if (fault === null) return { ...loaded, notice };
      notice = `${runner.adapterName} computes wrong answers with its usual kernels (${fault}). It runs plainer, slower ones. Updating the graphics driver or the browser may help.`;
      runner.dispose();
      if (choice !== KERNEL_CHOICES.at(-1)) continue;
      const message = `${runner.adapterName} computes wrong answers (${fault}), so it is not used. Updating the graphics driver or the browser may help.`;
      throw new ChorusError("wrong_answers", message, "backend");
    } catch (error) {
      runner.dispose();
      throw error;
    }
  }
  throw new Error("there is always a choice of kernels");
}
