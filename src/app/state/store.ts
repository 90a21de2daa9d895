import { createStore, type StoreApi } from "zustand/vanilla";

/** A store for readers: only its owner may write. */
export type ReadonlyStore<State> = Pick<StoreApi<State>, "getState" | "getInitialState" | "subscribe">;

/**
 * Returns a store of what `derive` makes of its inputs, which `read` reads from the sources. It is made anew only if an input
 * has changed, and needs no end: it follows the sources while it has subscribers.
 */
export function derivedStore<Inputs extends readonly unknown[], State>(
  sources: readonly ReadonlyStore<unknown>[],
  read: () => Inputs,
  derive: (inputs: Inputs) => State,
): ReadonlyStore<State> {
  let inputs = read();
  let state = derive(inputs);
  const getState = () => {
    const now = read();
    if (now.some((input, index) => input !== inputs[index])) state = derive((inputs = now));
    return state;
  };
  const subscribe: ReadonlyStore<State>["subscribe"] = (listener) => {
    let before = getState();
    const notify = () => {
      const [now, last] = [getState(), before];
      before = now;
      if (now !== last) listener(now, last);
    };
    const unsubscribes = sources.map((source) => source.subscribe(notify));
    return () => unsubscribes.forEach((unsubscribe) => unsubscribe());
  };
  return { getState, getInitialState: getState, subscribe };
}

/** Resolves with the first state, from the present one on, that is as wanted. */
export function until<State>(store: ReadonlyStore<State>, isWanted: (state: State) => boolean): Promise<State> {
  return new Promise((resolve) => {
    const check = () => {
      const state = store.getState();
      if (!isWanted(state)) return;
      unsubscribe();
      resolve(state);
    };
    const unsubscribe = store.subscribe(check);
    check();
  });
}

export { createStore, type StoreApi };
