// Firefox looks for finished work only every 100 ms, and whenever something is submitted. An empty submit makes it look: a
// step then takes 5 ms instead of 100. Other browsers look every millisecond or two by themselves. Measuring it
// would mislead if others use the same device.

import { isFirefox } from "./is-firefox.ts";

/** Firefox runs repeated timers no faster than this. */
const POLL_MS = 4;

/** Waits for a queue's work, and polls in browsers that would look for it too rarely. */
export class QueuePoller {
  readonly #queue: GPUQueue;
  readonly isNeeded: boolean;
  #numWaits = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(queue: GPUQueue, isNeeded = isFirefox()) {
    this.#queue = queue;
    this.isNeeded = isNeeded;
  }

  /** Waits for a promise that settles with submitted work. */
  settled<T>(work: Promise<T>): Promise<T> {
    return this.isNeeded ? this.#polled(work) : work;
  }

  async #polled<T>(work: Promise<T>): Promise<T> {
    this.#numWaits += 1;
    this.#timer ??= setInterval(() => this.#queue.submit([]), POLL_MS);
    try {
      return await work;
    } finally {
      this.#numWaits -= 1;
      if (this.#numWaits === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }
}
