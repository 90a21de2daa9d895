import type { CpuThreads } from "../../backends/cpu/cpu-runner.ts";
import type { OfferedBackend } from "./platform.ts";

export const ONE_THREAD: CpuThreads = { most: 1, openHelper: null };

export function offerWebGpu(gpu: GPU | undefined): OfferedBackend {
  return {
    name: "webgpu",
    load: async () => (await import("../../backends/gpu/webgpu-backend.ts")).webGpuBackend(gpu),
  };
}

/** @param threads read when the backend is opened */
export function offerCpu(threads: () => CpuThreads): OfferedBackend {
  return {
    name: "cpu",
    load: async () => (await import("../../backends/cpu/cpu-backend.ts")).cpuBackend(threads()),
  };
}
