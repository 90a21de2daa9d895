/** Calls `tick` at regular times, from `wake` on until `tick` returns false: nothing more will change by itself. */
export class Ticker {
  readonly #intervalMs: number;
  readonly #tick: () => boolean;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(intervalMs: number, tick: () => boolean) {
    this.#intervalMs = intervalMs;
    this.#tick = tick;
  }

  readonly wake = (): void => {
    this.#timer ??= setInterval(this.#run, this.#intervalMs);
  };

  readonly #run = (): void => {
    if (this.#tick()) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  };
}
