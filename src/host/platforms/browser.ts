import type { HelperThread } from "../../backends/cpu/threads/helper-thread.ts";
import type { HelperMessage, HelperPlan } from "../../backends/cpu/threads/thread-body.ts";
import type { CpuThreads } from "../../backends/cpu/cpu-runner.ts";
import { ModelStore } from "../../files/store/model-store.ts";
import { describeModel } from "../../models/families.ts";
import { offerCpu, offerWebGpu, ONE_THREAD } from "./offered-backends.ts";
import type { Platform } from "./platform.ts";
import { browserPort, type ThreadPort } from "../../threads/thread-port.ts";
import type { BorrowedThreads } from "../borrowed-threads.ts";
import { indexedDbTuningStore } from "./tuning-store.ts";

interface BrowserOptions {
  readonly gpu: GPU | undefined;
  /** What pages lend to a worker. [a page starts its threads itself] */
  readonly threads?: BorrowedThreads;
}

/** A page or a worker: models in the origin's private files, measurements in IndexedDB. */
export function browserPlatform({ gpu, threads }: BrowserOptions): Platform {
  // Without either everything runs in place: where somebody's own shared worker hosts an engine, for one.
  const canOpen = threads !== undefined || globalThis.Worker !== undefined;
  return {
    backends: [offerWebGpu(gpu), offerCpu(() => (threads ? cpuThreads(threads) : ONE_THREAD))],
    reference: offerCpu(() => ONE_THREAD),
    runtime: navigator.userAgent,
    tuning: indexedDbTuningStore(),
    openGrammarThread: canOpen ? () => threads?.open("grammars") ?? browserPort(startGrammarThread()) : null,
    openTextThread: canOpen ? () => threads?.open("texts") ?? browserPort(startTextThread()) : null,
    openModelStore: (http) => ModelStore.open(describeModel, http),
    now: () => performance.now(),
  };
}

/** Threads share memory where the page is isolated from others, with a worker of that page alone. */
function cpuThreads(threads: BorrowedThreads): CpuThreads {
  if (!globalThis.crossOriginIsolated || !("DedicatedWorkerGlobalScope" in globalThis)) return ONE_THREAD;
  return {
    most: Math.max(1, navigator.hardwareConcurrency - 1),
    openHelper: () => Promise.resolve(helperAt(threads.open("helpers"))),
  };
}

function helperAt(port: ThreadPort<HelperPlan, HelperMessage>): HelperThread {
  const listeners: ((message: HelperMessage) => void)[] = [];
  const tell = (message: HelperMessage) => {
    for (const listener of listeners) listener(message);
  };
  const fail = (message: string) => tell({ type: "failed", message });
  port.listen(tell, fail, () => fail("the page that lent it is gone"));
  return {
    start: (plan) => port.post(plan),
    listen: (listener) => void listeners.push(listener),
    end: () => port.end(),
  };
}

function startGrammarThread(): Worker {
  const name = "chorus-grammars";
  return new Worker(new URL("../../grammar/grammar.worker.ts", import.meta.url), { type: "module", name });
}

function startTextThread(): Worker {
  const name = "chorus-texts";
  return new Worker(new URL("../text/text.worker.ts", import.meta.url), { type: "module", name });
}
