import { createStore, type ReadonlyStore } from "../../../state/store.ts";

/** Something that loads when it is first needed. */
export interface LateLibrary<Library> {
  /** The library; null until it is loaded; "missing" if it can't be loaded now. */
  readonly store: ReadonlyStore<Library | null | "missing">;
  /** Loads it, and again with the next connection if it can't be loaded. May be called often. */
  readonly load: () => void;
}

export function lateLibrary<Library extends object>(read: () => Promise<Library>): LateLibrary<Library> {
  const store = createStore<Library | null | "missing">(() => null);
  let isLoading = false;
  const load = () => {
    if (isLoading) return;
    isLoading = true;
    read().then(
      (library) => store.setState(library, true),
      () => {
        isLoading = false;
        store.setState("missing", true);
        addEventListener("online", load, { once: true });
      },
    );
  };
  return { store, load };
}
