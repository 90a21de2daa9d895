// Runs one helper thread: in a browser, where the page gives it a port, or in Node, where a module has no `self`.

import { help, type HelperMessage, type HelperPlan } from "./thread-body.ts";

const UNREADABLE: HelperMessage = { type: "failed", message: "its start message could not be read" };

if (typeof self === "undefined" || !("importScripts" in self || "DedicatedWorkerGlobalScope" in self)) {
  // Not imported: bundlers for browsers could not resolve it.
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  const say = (message: HelperMessage) => parentPort?.postMessage(message);
  parentPort?.once("message", (plan: HelperPlan) => void help(plan, say));
  parentPort?.once("messageerror", () => say(UNREADABLE));
} else {
  const listen = ({ ports: [port] }: MessageEvent<unknown>) => {
    const say = (message: HelperMessage) => port?.postMessage(message);
    port?.addEventListener("message", ({ data }: MessageEvent<HelperPlan>) => void help(data, say), { once: true });
    port?.addEventListener("messageerror", () => say(UNREADABLE), { once: true });
    port?.start();
  };
  self.addEventListener("message", listen, { once: true });
}
