import type { Model } from "../../models/model.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import type { OpenedDevice } from "./device.ts";
import { modelMemory } from "./memory.ts";

/** As f32; more stays halves everywhere, so that a large model does not fill the memory of a small computer. */
const MAX_WHOLE_BYTES = 2 ** 29;

/**
 * Returns how weights are kept where nobody says. Halves take half the bytes, and a step on a GPU waits for bytes. An
 * adapter that computes on the CPU waits for arithmetic, and one without halves of its own takes each apart bit by bit: a
 * fifth of a step on SwiftShader.
 */
export function usualDtype(
  model: Model,
  { isSoftware, hasHalves }: Pick<OpenedDevice, "isSoftware" | "hasHalves">,
): WeightsDtype {
  if (!isSoftware || hasHalves) return "f16";
  const sizes = { kvCacheDtype: "f16", numGpuBlocks: 0, blockSize: 0, maxNumSeqs: 0 } as const;
  return modelMemory(model, { ...sizes, dtype: "f32" }).weightBytes <= MAX_WHOLE_BYTES ? "f32" : "f16";
}
