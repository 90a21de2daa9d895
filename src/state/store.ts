import { createStore, type StoreApi } from "zustand/vanilla";

/** What readers of a store get: only its owner may write. */
export type ReadonlyStore<State> = Pick<StoreApi<State>, "getState" | "getInitialState" | "subscribe">;

export { createStore, type StoreApi };
