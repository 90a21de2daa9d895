import moduleUrl from "@mlc-ai/web-xgrammar/lib/index.js?url&no-inline";

/** The module's exports, as its types declare them. */
export type Xgrammar = typeof import("@mlc-ai/web-xgrammar");

let numLoaded = 0;
/** The instance that was opened last. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Loads and starts an instance, one at a time: they share globals. The module reads its `location` when it is loaded and
 * when it starts. Plain Node has none, and gets one meanwhile.
 */
export function whileLocated<T>(open: () => Promise<T>): Promise<T> {
  const opened = last.then(async () => {
    const global = globalThis as { location?: unknown };
    if (global.location !== undefined) return open();
    global.location = { href: import.meta.url };
    try {
      return await open();
    } finally {
      delete global.location;
    }
  });
  last = opened.catch(() => undefined);
  return opened;
}

/**
 * Fetches xgrammar's WebAssembly. Each call returns a new instance: after a crash its state is undefined, and it can't be
 * reset.
 */
export async function loadXgrammar(url: string = moduleUrl): Promise<Xgrammar> {
  // It isn't an ES module but a script that sets a global. The fragment makes each import a new module.
  numLoaded += 1;
  await import(/* @vite-ignore */ /* webpackIgnore: true */ /* turbopackIgnore: true */ `${url}#${numLoaded}`);
  const global = globalThis as { xgrammar?: Xgrammar };
  const { xgrammar } = global;
  if (xgrammar === undefined) throw new Error("xgrammar's script has left no exports.");
  delete global.xgrammar;
  return xgrammar;
}
