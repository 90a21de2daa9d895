import type { ThreadKind, ThreadLender } from "../protocol/thread-lender.ts";

/** The threads that this page lends to an engine in a shared worker. */
export class LentWorkers implements ThreadLender {
  readonly #workers = new Map<number, Worker>();

  start(id: number, kind: ThreadKind, port: MessagePort): Promise<string> {
    const worker = kind === "texts" ? startTextThread() : startGrammarThread();
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

  endAll(): void {
    for (const id of this.#workers.keys()) this.end(id);
  }
}

// As bundlers want it: an address and options that they can read. As in host/platforms/browser.ts.

function startGrammarThread(): Worker {
  const name = "chorus-grammars";
  return new Worker(new URL("../grammar/grammar.worker.ts", import.meta.url), { type: "module", name });
}

function startTextThread(): Worker {
  const name = "chorus-texts";
  return new Worker(new URL("../host/text/text.worker.ts", import.meta.url), { type: "module", name });
}
