// The entry of a thread that compiles grammars and computes masks: of a browser, or of Node, where a module has no `self`.

import { GrammarCompiler } from "./grammar-compiler.ts";
import { GrammarService, type GrammarCall } from "./grammar-service.ts";

/** xgrammar's memory. Beyond this it aborts, as it does on other grammars that it can't compile. */
const MAX_MEMORY_BYTES = 512 * 2 ** 20;
const PAGE_BYTES = 65_536;

const grow = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, "grow")?.value as (pages: number) => number;
WebAssembly.Memory.prototype.grow = function growWithinLimit(this: WebAssembly.Memory, pages: number): number {
  if (this.buffer.byteLength + pages * PAGE_BYTES > MAX_MEMORY_BYTES) throw new RangeError("The grammar is too large.");
  return grow.call(this, pages);
};

const service = new GrammarService((vocabulary) => new GrammarCompiler(() => vocabulary));

if (typeof self === "undefined" || !("importScripts" in self || "DedicatedWorkerGlobalScope" in self)) {
  // Not imported: bundlers for browsers would have to find it.
  const { parentPort } = process.getBuiltinModule("node:worker_threads");
  parentPort?.on("message", (call: GrammarCall) => {
    void service.answer(call).then((answer) => parentPort.postMessage(answer));
  });
} else {
  self.addEventListener("message", ({ data }: MessageEvent<GrammarCall>) => {
    void service.answer(data).then((answer) => self.postMessage(answer));
  });
}
