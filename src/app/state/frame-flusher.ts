/** Schedules `flush` to run soon. Scheduling it again before it ran changes nothing. */
export type ScheduleFlush = (flush: () => void) => void;

// Animation frames stop while the tab is hidden, but text must still arrive.
const LONGEST_WAIT_MS = 250;

/** Stores flushed per frame. So sixteen streaming panes are drawn thirty times a second each, and a frame costs half. */
export const MAX_FLUSHES_A_FRAME = 8;

/** Runs the flushes of many streams together, once per animation frame: tokens arrive far more often than it is drawn. */
export class FrameFlusher {
  /** In the order they were scheduled. */
  readonly #pending = new Set<() => void>();
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly schedule: ScheduleFlush = (flush) => {
    if (this.#pending.size === 0) this.#wait();
    this.#pending.add(flush);
  };

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
