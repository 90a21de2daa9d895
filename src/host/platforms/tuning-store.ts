import { createStore, get, set } from "idb-keyval";
import type { TuningStore } from "../../backends/backend.ts";
import { withStallTimeout } from "../../protocol/with-stall-timeout.ts";

/** Browsers' IndexedDB may never answer. What is kept here is not worth a longer wait. */
const LIMIT_MS = 3000;

/** Keeps what was measured in this browser's IndexedDB. Rejects where that can't be used. */
export function indexedDbTuningStore(): TuningStore {
  const store = createStore("chorus-tuning", "kernels");
  const error = () => new Error(`IndexedDB gave no answer within ${LIMIT_MS / 1000} seconds.`);
  const limited = <T>(work: () => Promise<T>) => withStallTimeout(work, { limitMs: LIMIT_MS, error });
  return {
    load: (key) => limited(() => get(key, store)),
    save: (key, names) => limited(() => set(key, names, store)),
  };
}

/** Keeps what was measured for the life of the process. */
export function memoryTuningStore(): TuningStore {
  const kept = new Map<string, readonly string[]>();
  return {
    load: (key) => Promise.resolve(kept.get(key)),
    save(key, names) {
      kept.set(key, names);
      return Promise.resolve();
    },
  };
}
