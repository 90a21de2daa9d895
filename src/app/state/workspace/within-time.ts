/** A busy computer may take seconds. Don't report "not saved" earlier: the write may still succeed. */
const LONGEST_WAIT_MS = 5000;

/** Rejects after seconds: a database that another page is about to upgrade can block its readers for ever. */
export function withinTime<Value>(promise: Promise<Value>): Promise<Value> {
  return Promise.race([
    promise,
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error("IndexedDB doesn't respond.")), LONGEST_WAIT_MS);
    }),
  ]);
}
