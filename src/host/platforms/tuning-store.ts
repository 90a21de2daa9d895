import { createStore, get, set } from "idb-keyval";
import type { TuningStore } from "../../backends/backend.ts";

/** Keeps what was measured in this browser's IndexedDB. */
export function indexedDbTuningStore(): TuningStore {
  const store = createStore("chorus-tuning", "kernels");
  return { load: (key) => get(key, store), save: (key, names) => set(key, names, store) };
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
