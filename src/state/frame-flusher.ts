/** Asks for `flush` to run soon; asking again before it ran changes nothing. */
export type ScheduleFlush = (flush: () => void) => void;

// An animation frame never comes while the tab is hidden; text must arrive all the same.
const LONGEST_WAIT_MS = 250;

/**
 * So many things change in one frame; what is left takes its turn in the next. Sixteen panes that stream are drawn thirty
 * times a second each then, which nobody can tell from sixty, and each frame costs half.
 */
export const MOST_FLUSHES_A_FRAME = 8;

/**
 * Gathers what many streams have to show and shows it together, once per animation frame: tokens come far more often
 * than the screen is drawn, and a store that changes renders its readers at once.
 */
export class FrameFlusher {
  /** In the order in which they were asked for: who has had a turn comes last. */
  readonly #pending = new Set<() => void>();
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly schedule: ScheduleFlush = (flush) => {
    if (this.#pending.size === 0) this.#wait();
    this.#pending.add(flush);
  };

  /** Shows all that waits, now. */
  readonly flushAll = (): void => this.#run(Infinity);

  #wait(): void {
    this.#frame = requestAnimationFrame(() => this.#run(MOST_FLUSHES_A_FRAME));
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
