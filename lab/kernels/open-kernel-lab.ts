import * as Comlink from "comlink";

import { announced } from "../../src/protocol/announced-endpoint.ts";
import { untilAborted } from "../../src/protocol/until-aborted.ts";
import type { KernelLab } from "./kernel-lab.ts";

/** Measures kernels, in this thread or in a worker. */
export type MeasureKernels = (
  signal: AbortSignal,
  ...given: Parameters<KernelLab["measure"]>
) => ReturnType<KernelLab["measure"]>;

/** Measures in a worker of its own. Aborting the signal ends it at once. */
export const measureInWorker: MeasureKernels = async (signal, run, onProgress) => {
  const worker = new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module", name: "chorus-kernels" });
  const remote = Comlink.wrap<KernelLab>(announced(worker));
  const failed = new Promise<never>((_, reject) => {
    worker.addEventListener("error", (event) => reject(new Error(`The kernel lab's worker failed: ${event.message}`)));
  });
  try {
    return await untilAborted(Promise.race([remote.measure(run, Comlink.proxy(onProgress)), failed]), signal);
  } finally {
    worker.terminate();
  }
};
