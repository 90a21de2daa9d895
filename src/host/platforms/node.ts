import type { CpuThreads } from "../../backends/cpu/cpu-runner.ts";
import { nodeHelper } from "../../backends/cpu/threads/helper-thread.ts";
// eslint-disable-next-line import/default -- Vite makes it
import helperUrl from "../../backends/cpu/threads/helper.worker.ts?worker&url";
// eslint-disable-next-line import/default -- Vite makes it
import grammarUrl from "../../grammar/grammar.worker.ts?worker&url";
// eslint-disable-next-line import/default -- Vite makes it
import textUrl from "../text/text.worker.ts?worker&url";
import { offerCpu, offerWebGpu, ONE_THREAD } from "./offered-backends.ts";
import type { Platform } from "./platform.ts";
import { nodePort } from "../../threads/thread-port.ts";
import { memoryTuningStore } from "./tuning-store.ts";

/** Not written out where it is used: webpack would look for the files. */
const here = import.meta.url;

/** A thread of texts that needs more is ended. (A vocabulary of 262,144 tokens takes a third of it.) */
const MAX_TEXT_MB = 1024;

/** Shared by all engines of this process: measuring kernels and checking answers takes a second or more. */
export const tuningOfProcess = memoryTuningStore();

/** Plain Node: no storage of its own, and WebGPU where the caller brings one. */
export function nodePlatform({ gpu }: { gpu: GPU | undefined }): Platform {
  // Not imported: bundlers for browsers would have to find them.
  const { availableParallelism } = process.getBuiltinModule("node:os");
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const threads: CpuThreads = {
    most: Math.max(1, availableParallelism() - 1),
    openHelper: () => Promise.resolve(nodeHelper(new Worker(new URL(helperUrl, here)))),
  };
  return {
    backends: [offerWebGpu(gpu), offerCpu(() => threads)],
    reference: offerCpu(() => ONE_THREAD),
    runtime: `Node ${process.version}`,
    tuning: tuningOfProcess,
    openGrammarThread: () => nodePort(new Worker(new URL(grammarUrl, here))),
    openTextThread: () => {
      const resourceLimits = { maxOldGenerationSizeMb: MAX_TEXT_MB };
      return nodePort(new Worker(new URL(textUrl, here), { resourceLimits }));
    },
    openModelStore: () => Promise.resolve(null),
    now: () => performance.now(),
  };
}
