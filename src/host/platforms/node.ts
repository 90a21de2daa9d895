import { webGpuBackend } from "../../backends/gpu/webgpu-backend.ts";
import type { Platform } from "./platform.ts";
import { memoryTuningStore } from "./tuning-store.ts";

/** Plain Node: no storage of its own, and WebGPU where the caller brings one. */
export function nodePlatform({ gpu }: { gpu: GPU | undefined }): Platform {
  return {
    backends: [webGpuBackend(gpu)],
    tuning: memoryTuningStore(),
    openModelStore: () => Promise.resolve(null),
    now: () => performance.now(),
  };
}
