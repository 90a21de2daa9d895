import type { HelperMessage, HelperPlan } from "./thread-body.ts";

/** Another thread, of a browser or of Node. */
export interface HelperThread {
  start(plan: HelperPlan): void;
  listen(listener: (message: HelperMessage) => void): void;
  end(): void;
}

export type OpenHelper = () => Promise<HelperThread>;

interface NodePort {
  on(type: "message", listener: (message: HelperMessage) => void): unknown;
  on(type: "error" | "messageerror", listener: (error: Error) => void): unknown;
  on(type: "exit", listener: () => void): unknown;
  postMessage(message: unknown): void;
  terminate(): unknown;
}

/** Returns a helper that runs in a worker of node:worker_threads. */
export function nodeHelper(worker: NodePort): HelperThread {
  return {
    start: (plan) => worker.postMessage(plan),
    listen(listener) {
      worker.on("message", listener);
      for (const type of ["error", "messageerror"] as const) {
        worker.on(type, ({ message }) => listener({ type: "failed", message }));
      }
      worker.on("exit", () => listener({ type: "failed", message: "the thread has ended" }));
    },
    end: () => void worker.terminate(),
  };
}
