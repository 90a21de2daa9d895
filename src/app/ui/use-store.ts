import { useSyncExternalStore } from "react";
import type { ReadonlyStore } from "../state/store.ts";

/**
 * Binds a store to React: renders again when the selected part has changed. `select` must return a part of the state,
 * not a new object. [the whole state]
 */
export function useStore<State>(store: ReadonlyStore<State>): State;
export function useStore<State, Part>(store: ReadonlyStore<State>, select: (state: State) => Part): Part;
export function useStore<State>(store: ReadonlyStore<State>, select = (state: State): unknown => state) {
  return useSyncExternalStore(store.subscribe, () => select(store.getState()));
}
