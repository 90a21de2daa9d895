import type { HelperThread } from "../../backends/cpu/threads/helper-thread.ts";
import type { HelperMessage, HelperPlan } from "../../backends/cpu/threads/thread-body.ts";
import type { CpuThreads } from "../../backends/cpu/cpu-runner.ts";
import { ModelStore } from "../../files/store/model-store.ts";
import { describeModel } from "../../models/families.ts";
import { asFolder } from "../loading/gguf-as-folder.ts";
import { offerCpu, offerWebGpu, ONE_THREAD } from "./offered-backends.ts";
import type { Platform } from "./platform.ts";
import type { ThreadPort } from "../../threads/thread-port.ts";
import type { RemoteThreads } from "../remote-threads.ts";
import { indexedDbTuningStore } from "./tuning-store.ts";

interface BrowserOptions {
  readonly gpu: GPU | undefined;
  /** Started by pages for a worker, and by whoever hosts an engine in place. [everything runs on this thread] */
  readonly threads?: RemoteThreads;
}

/** A page or a worker: models in the origin's private files, measurements in IndexedDB. */
export function browserPlatform({ gpu, threads }: BrowserOptions): Platform {
  return {
    backends: [offerWebGpu(gpu), offerCpu(() => (threads ? cpuThreads(threads) : ONE_THREAD))],
    reference: offerCpu(() => ONE_THREAD),
    runtime: navigator.userAgent,
    tuning: indexedDbTuningStore(),
    openGrammarThread: threads ? () => threads.open("grammars") : null,
    openTextThread: threads ? () => threads.open("texts") : null,
    openModelStore: (http) => ModelStore.open({ describeModel, asFolder }, http),
    now: () => performance.now(),
  };
}

/** Threads share memory where the page is isolated from others, with a worker of that page alone: a page must not wait. */
function cpuThreads(threads: RemoteThreads): CpuThreads {
  if (!globalThis.crossOriginIsolated || !("DedicatedWorkerGlobalScope" in globalThis)) return ONE_THREAD;
  return {
    most: Math.max(1, navigator.hardwareConcurrency - 1),
    openHelper: () => Promise.resolve(helperAt(threads.open("helpers"))),
  };
}

function helperAt(port: ThreadPort<HelperPlan, HelperMessage>): HelperThread {
  const listeners: ((message: HelperMessage) => void)[] = [];
  const notify = (message: HelperMessage) => {
    for (const listener of listeners) listener(message);
  };
  const fail = (message: string) => notify({ type: "failed", message });
  const receive = (message: HelperMessage | null) =>
    message ? notify(message) : fail("its message could not be read");
  port.listen(receive, fail, () => fail("the page of this thread is gone"));
  return {
    start: (plan) => port.post(plan),
    listen: (listener) => void listeners.push(listener),
    end: () => port.end(),
  };
}
