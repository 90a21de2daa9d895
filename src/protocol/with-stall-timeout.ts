const TICK_MS = 1000;

interface Stall<T> {
  readonly limitMs: number;
  readonly error: () => Error;
  /** Takes a value that came too late. */
  readonly discard?: (late: T) => void;
}

/**
 * Settles as the work does, or rejects once it has reported no progress for `limitMs`. Counts ticks of the page's own clock, so that
 * no time passes while a page is frozen or its thread computes.
 */
export function withStallTimeout<T>(
  work: (onProgress: () => void) => Promise<T>,
  { limitMs, error, discard = () => undefined }: Stall<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    let waitedMs = 0;
    let hasStalled = false;
    const timer = setInterval(() => {
      waitedMs += TICK_MS;
      if (waitedMs < limitMs) return;
      hasStalled = true;
      clearInterval(timer);
      reject(error());
    }, TICK_MS);
    void work(() => (waitedMs = 0))
      .then((value) => (hasStalled ? discard(value) : resolve(value)), reject)
      .finally(() => clearInterval(timer));
  });
}
