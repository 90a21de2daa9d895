import moduleUrl from "@mlc-ai/web-xgrammar/lib/index.js?url&no-inline";

/** The module's exports, which are the same as its types say. */
export type Xgrammar = typeof import("@mlc-ai/web-xgrammar");

let numLoaded = 0;

/**
 * xgrammar's WebAssembly, fetched only now. Each call gives an instance of its own: its state after a crash is anybody's
 * guess, and it has no way to begin anew.
 */
export async function loadXgrammar(url: string = moduleUrl): Promise<Xgrammar> {
  // It is no ES module but a script that leaves its exports in a global. The fragment makes each import another module.
  numLoaded += 1;
  await import(/* @vite-ignore */ `${url}#${numLoaded}`);
  const global = globalThis as { xgrammar?: Xgrammar };
  const { xgrammar } = global;
  if (xgrammar === undefined) throw new Error("xgrammar's script has left no exports.");
  delete global.xgrammar;
  return xgrammar;
}
