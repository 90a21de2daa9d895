import type { Model } from "../../models/model.ts";
import type { FloatsDtype } from "../../protocol/config.ts";
import type { OpenedDevice } from "./device.ts";
import { modelMemory } from "./memory.ts";

/** Most bytes of weights in f32. Larger models stay in halves, so that they don't fill a small computer's memory. */
const MAX_WHOLE_BYTES = 2 ** 29;

/**
 * Returns the default dtype of the weights. A step on a GPU is bound by memory, and halves take half the bytes. A step on
 * the CPU is bound by arithmetic, and an adapter without halves unpacks each one bit by bit: a fifth of a step on
 * SwiftShader.
 */
export function defaultDtype(
  model: Model,
  { isSoftware, hasHalves }: Pick<OpenedDevice, "isSoftware" | "hasHalves">,
): FloatsDtype {
  if (!isSoftware || hasHalves) return "f16";
  const sizes = { kvCacheDtype: "f16", numGpuBlocks: 0, blockSize: 0, maxNumSeqs: 0 } as const;
  return modelMemory(model, { ...sizes, dtype: "f32" }).weightBytes <= MAX_WHOLE_BYTES ? "f32" : "f16";
}
