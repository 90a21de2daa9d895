import { ChorusError } from "../../protocol/errors.ts";

/**
 * Runs work that makes buffers. A buffer without memory makes every later use of it an error of validation, so that both
 * kinds are caught.
 * @throws ChorusError out_of_memory first of all, then what the work threw, then what the GPU refused
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
