// The entry of a thread that runs templates and tokenizers: of a browser, or of Node, where a module has no `self`.

import type { TextCall } from "./text-calls.ts";
import { TextService } from "./text-service.ts";

const service = new TextService();

if (typeof self === "undefined" || !("importScripts" in self || "DedicatedWorkerGlobalScope" in self)) {
  // Not imported: bundlers for browsers would have to find it.
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  parentPort?.on("message", (call: TextCall) => parentPort.postMessage(service.answer(call)));
} else {
  self.addEventListener("message", ({ data }: MessageEvent<TextCall>) => self.postMessage(service.answer(data)));
}
