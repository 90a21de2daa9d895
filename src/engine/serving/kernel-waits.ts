import type { Runner } from "../runner.ts";
import type { Sequence } from "../sequence.ts";
import { drawNeeds } from "../step-planner.ts";

interface Outcomes {
  readonly onReady: () => void;
  /** Called if the runner can't compute a sequence: a kernel is refused, or the device is lost. */
  readonly onError: (sequence: Sequence, error: unknown) => void;
}

/** Knows which sequences can't start because the runner is still compiling a kernel that they need. */
export class KernelWaits {
  readonly #outcomes: Outcomes;
  #waiting = new Set<Sequence>();
  #ready = new WeakSet<Sequence>();

  constructor(outcomes: Outcomes) {
    this.#outcomes = outcomes;
  }

  /** Returns whether the runner can compute a sequence. If not, it begins to compile what is missing, and an outcome follows. */
  isReady(sequence: Sequence, runner: Runner | null): boolean {
    if (runner === null || this.#ready.has(sequence)) return true;
    if (this.#waiting.has(sequence)) return false;
    const missing = runner.missing?.(drawNeeds(sequence)) ?? null;
    if (missing === null) this.#ready.add(sequence);
    else this.#await(sequence, missing);
    return missing === null;
  }

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Forgets what the lost runner compiled: another one compiles its own kernels. */
  forget(): void {
    this.#waiting = new Set();
    this.#ready = new WeakSet();
  }

  #await(sequence: Sequence, missing: Promise<void>): void {
    const waiting = this.#waiting;
    waiting.add(sequence);
    const end = (notify: () => void): void => {
      // It may be another runner's sequence now, or nobody's.
      if (this.#waiting !== waiting) return;
      waiting.delete(sequence);
      if (!sequence.isFinished) notify();
    };
    missing.then(
      () => end(this.#outcomes.onReady),
      (error: unknown) => end(() => this.#outcomes.onError(sequence, error)),
    );
  }
}
