// The entry of a thread that compiles grammars and computes masks.

import { serveThread } from "../threads/serve-thread.ts";
import { GrammarCompiler } from "./grammar-compiler.ts";
import { GrammarService, type GrammarCall } from "./grammar-service.ts";

/** Limit of xgrammar's memory. Beyond it xgrammar aborts, as it does on other grammars that it can't compile. */
const MAX_MEMORY_BYTES = 512 * 2 ** 20;
const PAGE_BYTES = 65_536;

const grow = Object.getOwnPropertyDescriptor(WebAssembly.Memory.prototype, "grow")?.value as (pages: number) => number;
WebAssembly.Memory.prototype.grow = function growWithinLimit(this: WebAssembly.Memory, pages: number): number {
  if (this.buffer.byteLength + pages * PAGE_BYTES > MAX_MEMORY_BYTES) throw new RangeError("The grammar is too large.");
  return grow.call(this, pages);
};

const service = new GrammarService((vocabulary) => new GrammarCompiler(() => vocabulary));

serveThread((call: GrammarCall) => service.answer(call));
