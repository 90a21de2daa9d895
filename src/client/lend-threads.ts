import type { ThreadKind, ThreadLender } from "../protocol/thread-lender.ts";

/** The threads that this page lends to an engine: in a worker, or in place. */
export class LentWorkers implements ThreadLender {
  readonly #workers = new Map<number, Worker>();
  readonly #inlineUrl: string | null;
  #isOver = false;

  /** @param inlineUrl of all workers in one script, if the engine's own came from there */
  constructor(inlineUrl: string | null) {
    this.#inlineUrl = inlineUrl;
  }

  start(id: number, kind: ThreadKind, port: MessagePort): Promise<string> {
    // The engine's worker may have asked before it was ended.
    if (this.#isOver) {
      port.close();
      return new Promise(() => undefined);
    }
    const { fragment, open } = THREADS[kind];
    const worker = this.#inlineUrl === null ? open() : new Worker(`${this.#inlineUrl}#${fragment}`, { type: "module" });
    this.#workers.set(id, worker);
    worker.postMessage(null, [port]);
    return new Promise((resolve) => {
      worker.addEventListener("error", ({ message }) => resolve(message || "its worker could not be loaded"));
    });
  }

  end(id: number): void {
    this.#workers.get(id)?.terminate();
    this.#workers.delete(id);
  }

  /** None is started afterwards. */
  endAll(): void {
    this.#isOver = true;
    for (const id of this.#workers.keys()) this.end(id);
  }
}

/** As bundlers want it: an address and options that they can read. */
const THREADS: Readonly<Record<ThreadKind, { readonly fragment: string; readonly open: () => Worker }>> = {
  texts: {
    fragment: "text.worker",
    open: () =>
      new Worker(new URL("../host/text/text.worker.ts", import.meta.url), { type: "module", name: "chorus-texts" }),
  },
  grammars: {
    fragment: "grammar.worker",
    open: () =>
      new Worker(new URL("../grammar/grammar.worker.ts", import.meta.url), { type: "module", name: "chorus-grammars" }),
  },
  helpers: {
    fragment: "helper.worker",
    open: () => new Worker(new URL("../backends/cpu/threads/helper.worker.ts", import.meta.url), { type: "module" }),
  },
};
