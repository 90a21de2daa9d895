import * as Comlink from "comlink";

import type { EngineConfig, ModelSource } from "../../protocol/config.ts";
import type { KernelLab, KernelTimes, StepCase } from "./kernel-lab.ts";

/** The page's side of the kernel lab. */
interface OpenKernelLab {
  measure(
    model: ModelSource,
    config: EngineConfig,
    cases: readonly StepCase[],
    rounds: number,
    onProgress: (share: number) => void,
  ): Promise<KernelTimes>;
  gpuBytes(model: ModelSource, configs: readonly EngineConfig[]): Promise<number[]>;
}

/** Starts the lab's worker for the duration of `work`. Aborting the signal ends it at once. */
export async function withKernelLab<T>(signal: AbortSignal, work: (lab: OpenKernelLab) => Promise<T>): Promise<T> {
  const worker = new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module", name: "chorus-kernels" });
  const remote = Comlink.wrap<KernelLab>(worker);
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    worker.addEventListener("error", (event) => reject(new Error(`The kernel lab's worker failed: ${event.message}`)));
  });
  try {
    const lab: OpenKernelLab = {
      measure: (model, config, cases, rounds, onProgress) =>
        remote.measure(model, config, cases, rounds, Comlink.proxy(onProgress)),
      gpuBytes: (model, configs) => remote.gpuBytes(model, configs),
    };
    return await Promise.race([work(lab), aborted]);
  } finally {
    worker.terminate();
  }
}
