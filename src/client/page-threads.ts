import type { ThreadKind, ThreadProvider } from "../protocol/thread-provider.ts";
import { inlineWorkersUrl } from "./own-worker.ts";

/** Starts threads in this page for an engine in a worker, or in this thread. */
export class PageThreads implements ThreadProvider {
  /** Workers by id; null while one is being opened. */
  readonly #workers = new Map<number, Worker | null>();
  readonly #inlineUrl: string | null;
  readonly #openInline: () => Promise<string | null>;
  #isOver = false;

  /**
   * @param inlineUrl URL of all workers in one script, if the engine's own came from there
   * @param openInline returns that URL if a file can't be started
   */
  constructor(inlineUrl: string | null, openInline = inlineWorkersUrl) {
    this.#inlineUrl = inlineUrl;
    this.#openInline = openInline;
  }

  async start(id: number, kind: ThreadKind, port: MessagePort): Promise<string> {
    // The engine's worker may have requested the thread before it was ended.
    if (!this.#isOver) this.#workers.set(id, null);
    const worker = this.#isOver ? null : await this.#open(kind);
    if (worker === null || !this.#workers.has(id)) {
      worker?.terminate();
      port.close();
      return new Promise(() => undefined);
    }
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

  /** Ends all threads, and starts none afterwards. */
  endAll(): void {
    this.#isOver = true;
    for (const id of this.#workers.keys()) this.end(id);
  }

  /** Opens a worker from its file, or, if the page may not start that (another origin's), from the script in the bundle. */
  async #open(kind: ThreadKind): Promise<Worker> {
    const { fragment, open } = THREADS[kind];
    let url = this.#inlineUrl;
    try {
      if (url === null) return open();
    } catch (error) {
      url = await this.#openInline();
      if (url === null) throw error;
    }
    return new Worker(`${url}#${fragment}`, { type: "module" });
  }
}

/** Written so that bundlers can read the URL and the options. */
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
