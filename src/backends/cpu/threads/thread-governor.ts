/** Steps in a row, most of whose meetings found a thread asleep, after which one thread goes on alone. */
const PATIENCE = 4;
/** Steps until the others are tried again. */
const REST_STEPS = 256;

/**
 * Says how many threads compute the next step. Where somebody else keeps a core busy, threads wait for one another longer than
 * they compute, and one alone is faster. Bits don't depend on it.
 */
export class ThreadGovernor {
  readonly #most: number;
  #slowSteps = 0;
  #restSteps = 0;

  constructor(most: number) {
    this.#most = most;
  }

  next(): number {
    if (this.#restSteps === 0) return this.#most;
    this.#restSteps--;
    return 1;
  }

  /** Of a step that several threads computed. */
  report({ sleeps, meetings }: { readonly sleeps: number; readonly meetings: number }): void {
    this.#slowSteps = sleeps > meetings / 2 ? this.#slowSteps + 1 : 0;
    if (this.#slowSteps < PATIENCE) return;
    this.#slowSteps = 0;
    this.#restSteps = REST_STEPS;
  }
}
