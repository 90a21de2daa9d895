import moduleUrl from "@mlc-ai/web-xgrammar/lib/index.js?url&no-inline";

/** The module's exports, as its types declare them. */
export type Xgrammar = typeof import("@mlc-ai/web-xgrammar");

let numLoaded = 0;

/**
 * Fetches xgrammar's WebAssembly. Each call returns a new instance: after a crash its state is undefined, and it can't be
 * reset.
 */
export async function loadXgrammar(url: string = moduleUrl): Promise<Xgrammar> {
  // It isn't an ES module but a script that sets a global. The fragment makes each import a new module.
  numLoaded += 1;
  await import(/* @vite-ignore */ `${url}#${numLoaded}`);
  const global = globalThis as { xgrammar?: Xgrammar };
  const { xgrammar } = global;
  if (xgrammar === undefined) throw new Error("xgrammar's script has left no exports.");
  delete global.xgrammar;
  return xgrammar;
}
