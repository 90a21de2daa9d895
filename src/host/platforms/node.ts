import type { CpuThreads } from "../../backends/cpu/cpu-runner.ts";
import { nodeHelper } from "../../backends/cpu/threads/helper-thread.ts";
import helperUrl from "../../backends/cpu/threads/helper.worker.ts?worker&url";
import { offerCpu, offerWebGpu } from "./offered-backends.ts";
import type { Platform } from "./platform.ts";
import { memoryTuningStore } from "./tuning-store.ts";

/** Plain Node: no storage of its own, and WebGPU where the caller brings one. */
export async function nodePlatform({ gpu }: { gpu: GPU | undefined }): Promise<Platform> {
  const [{ availableParallelism }, { Worker }] = await Promise.all([import("node:os"), import("node:worker_threads")]);
  const threads: CpuThreads = {
    most: Math.max(1, availableParallelism() - 1),
    openHelper: () => Promise.resolve(nodeHelper(new Worker(new URL(helperUrl, import.meta.url)))),
  };
  return {
    backends: [offerWebGpu(gpu), offerCpu(() => threads)],
    tuning: memoryTuningStore(),
    openModelStore: () => Promise.resolve(null),
    now: () => performance.now(),
  };
}
