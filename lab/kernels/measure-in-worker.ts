import * as Comlink from "comlink";

import { announced } from "../../src/protocol/announced-endpoint.ts";
import { untilAborted } from "../../src/protocol/until-aborted.ts";
import type { KernelRun, KernelTimes } from "./kernel-lab.ts";

export type MeasureKernels = (run: KernelRun, onProgress: (share: number) => void) => Promise<KernelTimes>;

/** Measures in a worker of its own. Aborting the signal ends it at once. */
export async function measureInWorker(signal: AbortSignal, ...[run, onProgress]: Parameters<MeasureKernels>) {
  const worker = new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module", name: "chorus-kernels" });
  const measure = Comlink.wrap<MeasureKernels>(announced(worker));
  const failed = new Promise<never>((_, reject) => {
    worker.addEventListener("error", (event) => reject(new Error(`The kernel lab's worker failed: ${event.message}`)));
  });
  try {
    return await untilAborted(Promise.race([measure(run, Comlink.proxy(onProgress)), failed]), signal);
  } finally {
    worker.terminate();
  }
}
