import { ChorusError } from "../../protocol/errors.ts";

/**
 * Runs work that makes buffers. A buffer without memory makes every later use of it an error of validation, so that both
 * kinds are caught.
 * @throws ChorusError out_of_memory before all others, then the work's own error, then the GPU's
 */
export async function withErrorScopes<T>(device: GPUDevice, work: () => Promise<T>): Promise<T> {
  device.pushErrorScope("validation");
  device.pushErrorScope("out-of-memory");
  const [outcome] = await Promise.allSettled([work()]);
  const outOfMemory = await device.popErrorScope();
  const refused = await device.popErrorScope();
  if (outOfMemory) {
    throw new ChorusError("out_of_memory", `The GPU can't hold this model and its cache: ${outOfMemory.message}`);
  }
  if (outcome.status === "rejected") throw outcome.reason;
  if (refused) throw new ChorusError("internal_error", `The GPU refused a command: ${refused.message}`);
  return outcome.value;
}

const FILTERS = ["validation", "out-of-memory", "internal"] as const;

/**
 * Runs work that creates optional objects. Catches errors of the GPU, since an uncaptured one would end the engine. Never
 * rejects.
 * @returns whether the GPU accepted all of it; until this is known, none of the objects may be used
 */
export async function isTaken(device: GPUDevice, make: () => void): Promise<boolean> {
  for (const filter of FILTERS) device.pushErrorScope(filter);
  let isMade = false;
  try {
    make();
    isMade = true;
  } catch {
    // Some browsers throw if there is no memory.
  }
  // Popped before anybody else uses the device. A lost one may reject.
  const popped = await Promise.allSettled(FILTERS.map(() => device.popErrorScope()));
  return isMade && popped.every((scope) => scope.status === "fulfilled" && scope.value === null);
}
