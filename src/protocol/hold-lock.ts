/**
 * Holds a lock of this name until the signal is aborted, or as long as the thread or page lives, so that others can tell when it
 * no longer does. Resolves with whether it is held: where the browser blocks site data, there are no locks.
 */
export function holdLock(
  locks: Pick<LockManager, "request"> | undefined,
  name: string,
  until?: AbortSignal,
): Promise<boolean> {
  return new Promise((resolve) => {
    if (locks === undefined) return resolve(false);
    const hold = () => {
      resolve(true);
      return new Promise<void>((free) => until?.addEventListener("abort", () => free(), { once: true }));
    };
    // Some browsers throw, others reject.
    void (async () => locks.request(name, {}, hold))().catch(() => resolve(false));
  });
}
