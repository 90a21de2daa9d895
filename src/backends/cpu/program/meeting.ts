import { BARRIER } from "../kernels/barrier.ts";
import type { Kernels } from "../kernels/signatures.ts";

/** How threads meet between phases. */
export interface Meeting {
  /** @throws ThreadFailure where the others don't come */
  meet(): void;
}

/** The meeting of a thread that is alone. */
export const NOBODY_TO_MEET: Meeting = { meet: () => undefined };

/** Says why a meeting failed. */
export class ThreadFailure extends Error {}

/** Meets by the barrier of kernels/barrier.ts. */
export class BarrierMeeting implements Meeting {
  readonly #kernels: Kernels;
  readonly #address: number;
  readonly #spins: number;
  readonly #maxNaps: number;
  #threads = 1;
  #target = 0;
  /** Time that this thread has waited for the others since `begin`. */
  waitedMs = 0;

  constructor(kernels: Kernels, address: number, { spins, maxNaps }: { spins: number; maxNaps: number }) {
    this.#kernels = kernels;
    this.#address = address;
    this.#spins = spins;
    this.#maxNaps = maxNaps;
  }

  /** @param arrivals number of arrivals at the barrier so far */
  begin(threads: number, arrivals: number): void {
    this.#threads = threads;
    this.#target = arrivals;
    this.waitedMs = 0;
  }

  meet(): void {
    this.#target = (this.#target + this.#threads) | 0;
    const beforeMs = performance.now();
    const outcome = this.#kernels.barrier?.(this.#address, this.#target, this.#spins, this.#maxNaps);
    this.waitedMs += performance.now() - beforeMs;
    if (outcome === BARRIER.failed) throw new ThreadFailure("another thread has failed");
    if (outcome === BARRIER.stalled) throw new ThreadFailure("another thread has not come");
  }
}
