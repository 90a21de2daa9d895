// The words by which threads synchronise. Each has a cache line to itself.
//
//   barrier    see kernels/barrier.ts
//   go         256 steps + threads: the number of steps begun, and of threads in the newest
//   arrivals   the barrier's count before that step

import { BARRIER_BYTES, FAILED_OFFSET } from "../kernels/barrier.ts";
import type { MemoryMap } from "../memory-map.ts";

/** Addresses; plain data. */
export interface SyncMemory {
  readonly barrier: number;
  readonly go: number;
  readonly arrivals: number;
}

/** Instead of a number of threads: there are no more steps. */
export const CLOSED = 255;

const LINE_BYTES = 64;

export function takeSyncMemory(map: MemoryMap): SyncMemory {
  return { barrier: map.take(BARRIER_BYTES), go: map.take(LINE_BYTES), arrivals: map.take(LINE_BYTES) };
}

/** The words that threads share, by name. */
export class SyncWords {
  readonly #words: Int32Array;
  readonly #sync: SyncMemory;

  constructor(buffer: ArrayBufferLike, sync: SyncMemory) {
    this.#words = new Int32Array(buffer);
    this.#sync = sync;
  }

  /** Begins a step, or with CLOSED ends them. */
  begin(threads: number): number {
    const arrivals = Atomics.load(this.#words, this.#sync.barrier / 4);
    Atomics.store(this.#words, this.#sync.arrivals / 4, arrivals);
    const go = this.#sync.go / 4;
    const steps = (Atomics.load(this.#words, go) >>> 8) + 1;
    Atomics.store(this.#words, go, (steps << 8) | threads);
    Atomics.notify(this.#words, go);
    return arrivals;
  }

  get go(): number {
    return Atomics.load(this.#words, this.#sync.go / 4);
  }

  get arrivals(): number {
    return Atomics.load(this.#words, this.#sync.arrivals / 4);
  }

  /** Returns when `go` has changed: spins first, then sleeps. */
  waitForGo(known: number, spins: number): void {
    const go = this.#sync.go / 4;
    for (let i = 0; i < spins; i++) if (Atomics.load(this.#words, go) !== known) return;
    while (Atomics.load(this.#words, go) === known) Atomics.wait(this.#words, go, known);
  }

  /** Ends all waits at the barrier. */
  fail(): void {
    this.setFailed(1);
    Atomics.notify(this.#words, this.#sync.barrier / 4);
  }

  setFailed(value: 0 | 1): void {
    Atomics.store(this.#words, (this.#sync.barrier + FAILED_OFFSET) / 4, value);
  }
}
