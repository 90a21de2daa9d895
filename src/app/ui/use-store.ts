import { useSyncExternalStore } from "react";
import type { ReadonlyStore } from "../state/store.ts";

/**
 * Binds a store to React: renders again when the selected part has changed. `select` must return a part of the state,
 * not a new object.
 */
export function useStore<State, Part>(store: ReadonlyStore<State>, select: (state: State) => Part): Part {
  return useSyncExternalStore(store.subscribe, () => select(store.getState()));
}
