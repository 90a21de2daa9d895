/** Schedules `flush` to run soon. Scheduling it again before it ran changes nothing. */
export type ScheduleFlush = (flush: () => void) => void;

// Animation frames stop while the tab is hidden, but text must still arrive.
const LONGEST_WAIT_MS = 250;

/**
 * Stores flushed per frame; the rest wait for the next one. With sixteen streaming panes each is drawn thirty times per
 * second, which looks like sixty, and a frame costs half as much.
 */
export const MAX_FLUSHES_A_FRAME = 8;

/**
 * Collects the flushes of many streams and runs them together, once per animation frame. Tokens arrive far more often
 * than the screen is drawn, and each change of a store renders its readers.
 */
export class FrameFlusher {
  /** In the order they were scheduled. */
  readonly #pending = new Set<() => void>();
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly schedule: ScheduleFlush = (flush) => {
    if (this.#pending.size === 0) this.#wait();
    this.#pending.add(flush);
  };

  /** Runs all waiting flushes now. */
  readonly flushAll = (): void => this.#run(Infinity);

  #wait(): void {
    this.#frame = requestAnimationFrame(() => this.#run(MAX_FLUSHES_A_FRAME));
    this.#timer = setTimeout(() => this.#run(Infinity), LONGEST_WAIT_MS);
  }

  #run(most: number): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    const flushes = [...this.#pending].slice(0, most);
    for (const flush of flushes) this.#pending.delete(flush);
    if (this.#pending.size > 0) this.#wait();
    for (const flush of flushes) flush();
  }
}
