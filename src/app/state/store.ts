import { createStore, type StoreApi } from "zustand/vanilla";

/** A store for readers: only its owner may write. */
export type ReadonlyStore<State> = Pick<StoreApi<State>, "getState" | "getInitialState" | "subscribe">;

export { createStore, type StoreApi };
