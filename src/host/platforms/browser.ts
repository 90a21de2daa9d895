import { webGpuBackend } from "../../backends/gpu/webgpu-backend.ts";
import { ModelStore } from "../../files/store/model-store.ts";
import { describeModel } from "../../models/families.ts";
import type { Platform } from "./platform.ts";
import { indexedDbTuningStore } from "./tuning-store.ts";

/** A page or a worker: models in the origin's private files, measurements in IndexedDB. */
export function browserPlatform({ gpu }: { gpu: GPU | undefined }): Platform {
  return {
    backends: [webGpuBackend(gpu)],
    tuning: indexedDbTuningStore(),
    openModelStore: (http) => ModelStore.open(describeModel, http),
    now: () => performance.now(),
  };
}
