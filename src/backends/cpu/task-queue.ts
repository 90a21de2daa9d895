/** Runs tasks one after the other in turns of the event loop, so that messages are handled between them. */
export class TaskQueue {
  readonly #request: () => void;
  readonly #close: () => void;
  readonly #waiting: (() => void)[] = [];

  constructor() {
    const run = () => this.#waiting.shift()?.();
    if (typeof setImmediate === "function") {
      this.#request = () => void setImmediate(run);
      this.#close = () => undefined;
      return;
    }
    // Timers would wait for 4 ms. The channel stays: making one takes longer than a small model's step.
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", run);
    port1.start();
    this.#request = () => port2.postMessage(null);
    this.#close = () => port1.close();
  }

  /** Resolves in a task of its own. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#request();
    });
  }

  /** Prevents further tasks from beginning. */
  close(): void {
    this.#waiting.length = 0;
    this.#close();
  }
}
