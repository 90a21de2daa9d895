import { createStore, type ReadonlyStore } from "../state/store.ts";

/** Something that loads when it is first needed. */
export interface LateLibrary<Library> {
  readonly store: ReadonlyStore<{
    /** Null until it is loaded. */
    readonly library: Library | null;
    /** Whether it can't be loaded now. */
    readonly isMissing: boolean;
  }>;
  /** Loads it, and again with the next connection if it can't be loaded. May be called often. */
  readonly load: () => Promise<void>;
}

export function lateLibrary<Library extends object>(read: () => Promise<Library>): LateLibrary<Library> {
  const store = createStore<{ library: Library | null; isMissing: boolean }>(() => ({
    library: null,
    isMissing: false,
  }));
  let loading: Promise<void> | null = null;
  const load = () =>
    (loading ??= read().then(
      (library) => store.setState({ library, isMissing: false }),
      () => {
        loading = null;
        store.setState({ isMissing: true });
        addEventListener("online", () => void load(), { once: true });
      },
    ));
  return { store, load };
}
