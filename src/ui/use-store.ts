import { useSyncExternalStore } from "react";
import type { ReadonlyStore } from "../state/store.ts";

/**
 * The one binding between the stores and React: renders again when what `select` picks has changed. It must pick a part
 * of the state, not build a new object.
 */
export function useStore<State, Part>(store: ReadonlyStore<State>, select: (state: State) => Part): Part {
  return useSyncExternalStore(store.subscribe, () => select(store.getState()));
}
