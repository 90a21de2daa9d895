import { browserHelper } from "../../backends/cpu/threads/helper-thread.ts";
import type { CpuThreads } from "../../backends/cpu/cpu-runner.ts";
import { ModelStore } from "../../files/store/model-store.ts";
import { describeModel } from "../../models/families.ts";
import { offerCpu, offerWebGpu, ONE_THREAD } from "./offered-backends.ts";
import type { Platform } from "./platform.ts";
import { browserPort } from "../../threads/thread-port.ts";
import { indexedDbTuningStore } from "./tuning-store.ts";

/** Chromium's shared workers can't start others: their pages do. */
const HAS_WORKERS = globalThis.Worker !== undefined;

/** A page or a worker: models in the origin's private files, measurements in IndexedDB. */
export function browserPlatform({ gpu }: { gpu: GPU | undefined }): Platform {
  return {
    backends: [offerWebGpu(gpu), offerCpu(browserThreads)],
    reference: offerCpu(() => ONE_THREAD),
    runtime: navigator.userAgent,
    tuning: indexedDbTuningStore(),
    openGrammarThread: HAS_WORKERS ? () => browserPort(startGrammarThread()) : null,
    openTextThread: HAS_WORKERS ? () => browserPort(startTextThread()) : null,
    openModelStore: (http) => ModelStore.open(describeModel, http),
    now: () => performance.now(),
  };
}

/** Threads share memory where the page is isolated from others, and only a worker may wait for them. */
function browserThreads(): CpuThreads {
  const canShare = HAS_WORKERS && globalThis.crossOriginIsolated && globalThis.document === undefined;
  return {
    most: canShare ? Math.max(1, navigator.hardwareConcurrency - 1) : 1,
    openHelper: canShare ? () => Promise.resolve(browserHelper(startHelper())) : null,
  };
}

function startHelper(): Worker {
  return new Worker(new URL("../../backends/cpu/threads/helper.worker.ts", import.meta.url), { type: "module" });
}

function startGrammarThread(): Worker {
  const name = "chorus-grammars";
  return new Worker(new URL("../../grammar/grammar.worker.ts", import.meta.url), { type: "module", name });
}

function startTextThread(): Worker {
  const name = "chorus-texts";
  return new Worker(new URL("../text/text.worker.ts", import.meta.url), { type: "module", name });
}
