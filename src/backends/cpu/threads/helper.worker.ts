// Runs one helping thread: of a browser, or of Node, where a module has no `self`.

import { help, type HelperMessage, type HelperPlan } from "./thread-body.ts";

if (typeof self === "undefined" || !("importScripts" in self || "DedicatedWorkerGlobalScope" in self)) {
  // Not imported: bundlers for browsers would have to find it.
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  parentPort?.once("message", (plan: HelperPlan) => void help(plan, (message) => parentPort.postMessage(message)));
} else {
  const say = (message: HelperMessage) => self.postMessage(message);
  self.addEventListener("message", ({ data }: MessageEvent<HelperPlan>) => void help(data, say), { once: true });
}
