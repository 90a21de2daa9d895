import * as Comlink from "comlink";

import { announced } from "../../src/protocol/announced-endpoint.ts";
import type { KernelLab } from "./kernel-lab.ts";

/** The kernel lab's methods for sections, in this thread or in a worker. */
type OpenKernelLab = Pick<KernelLab, "measure" | "submits">;

/** Opens the lab for the duration of `work`. */
export type WithKernelLab = <T>(signal: AbortSignal, work: (lab: OpenKernelLab) => Promise<T>) => Promise<T>;

/** Starts the lab's worker for the duration of `work`. Aborting the signal ends it at once. */
export const withKernelLab: WithKernelLab = async (signal, work) => {
  const worker = new Worker(new URL("./kernel.worker.ts", import.meta.url), { type: "module", name: "chorus-kernels" });
  const remote = Comlink.wrap<KernelLab>(announced(worker));
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    worker.addEventListener("error", (event) => reject(new Error(`The kernel lab's worker failed: ${event.message}`)));
  });
  try {
    const lab: OpenKernelLab = {
      measure: (run, onProgress) => remote.measure(run, Comlink.proxy(onProgress)),
      submits: (rounds, mostMs) => remote.submits(rounds, mostMs),
    };
    return await Promise.race([work(lab), aborted]);
  } finally {
    worker.terminate();
  }
};
