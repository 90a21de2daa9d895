/**
 * Holds a lock of this name as long as the thread lives, so that others can tell when it no longer does. Resolves with
 * whether it is held: where the browser blocks site data, there are no locks.
 */
export function holdLifeLock(locks: Pick<LockManager, "request"> | undefined, name: string): Promise<boolean> {
  return new Promise((resolve) => {
    if (locks === undefined) return resolve(false);
    const hold = () => {
      resolve(true);
      return new Promise<never>(() => undefined);
    };
    // Some browsers throw, others reject.
    void (async () => locks.request(name, {}, hold))().catch(() => resolve(false));
  });
}
