import { ChorusError } from "./errors.ts";

/** The smallest module: "\0asm" and version 1. */
const EMPTY_MODULE = Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0);

/** Throws ChorusError wasm_unavailable if a Content Security Policy forbids compiling WebAssembly. */
export async function requireWasm(): Promise<void> {
  try {
    await WebAssembly.compile(EMPTY_MODULE);
  } catch (cause) {
    const message =
      "The page's Content Security Policy forbids WebAssembly: add 'wasm-unsafe-eval' to its script-src, and to that of the " +
      "workers' files.";
    throw new ChorusError("wasm_unavailable", message, null, { cause });
  }
}
