/** A clock that stands still while anything happens, and then goes on to whatever is next. */
export class VirtualClock {
  nowMs = 0;
  readonly #sleepers: { readonly atMs: number; readonly wake: () => void }[] = [];

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      const atMs = this.nowMs + ms;
      const after = this.#sleepers.findIndex((sleeper) => sleeper.atMs > atMs);
      this.#sleepers.splice(after < 0 ? this.#sleepers.length : after, 0, { atMs, wake });
    });

  /** Lets time pass until the promise is settled. */
  async run<T>(promise: Promise<T>): Promise<T> {
    const run = { isOver: false };
    void promise.catch(() => undefined).finally(() => (run.isOver = true));
    while (!run.isOver) {
      for (let turns = 0; turns < 2; turns++) await new Promise((resolve) => setImmediate(resolve));
      const next = this.#sleepers.shift();
      // Nobody sleeps: something real is under way, such as a file that is read.
      if (next === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
      else {
        this.nowMs = next.atMs;
        next.wake();
      }
    }
    return promise;
  }
}
