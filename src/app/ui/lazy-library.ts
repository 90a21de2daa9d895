import { createStore, type ReadonlyStore } from "../state/store.ts";

interface Lazy<Library> {
  /** Null until it is loaded. */
  readonly library: Library | null;
  /** Whether it can't be loaded now. */
  readonly isMissing: boolean;
}

/** Something that loads with the first call of `load`, and again with the next connection if it can't be loaded then. */
export function lazyLibrary<Library extends object>(read: () => Promise<Library>) {
  const store = createStore<Lazy<Library>>(() => ({ library: null, isMissing: false }));
  let loading: Promise<void> | null = null;
  const load = (): Promise<void> =>
    (loading ??= read().then(
      (library) => store.setState({ library, isMissing: false }),
      () => {
        loading = null;
        store.setState({ isMissing: true });
        addEventListener("online", () => void load(), { once: true });
      },
    ));
  return { store: store as ReadonlyStore<Lazy<Library>>, load };
}
