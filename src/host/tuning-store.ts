import { createStore, get, set } from "idb-keyval";
import type { TuningStore } from "../backends/gpu/matmul-tuning.ts";

/** In IndexedDB of this browser. */
export function openTuningStore(): TuningStore {
  const store = createStore("chorus-tuning", "kernels");
  return { load: (key) => get(key, store), save: (key, names) => set(key, names, store) };
}
