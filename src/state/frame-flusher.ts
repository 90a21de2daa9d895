/** Asks for `flush` to run soon; asking again before it ran changes nothing. */
export type ScheduleFlush = (flush: () => void) => void;

// An animation frame never comes while the tab is hidden; text must arrive all the same.
const LONGEST_WAIT_MS = 250;

/**
 * Gathers what many streams have to show and shows it together, once per animation frame: tokens come far more often
 * than the screen is drawn, and a store that changes renders its readers at once.
 */
export class FrameFlusher {
  readonly #pending = new Set<() => void>();
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly schedule: ScheduleFlush = (flush) => {
    if (this.#pending.size === 0) {
      this.#frame = requestAnimationFrame(this.#run);
      this.#timer = setTimeout(this.#run, LONGEST_WAIT_MS);
    }
    this.#pending.add(flush);
  };

  readonly #run = () => {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    const flushes = [...this.#pending];
    this.#pending.clear();
    for (const flush of flushes) flush();
  };
}
