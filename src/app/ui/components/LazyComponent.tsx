import { useEffect, type ComponentType, type ReactNode } from "react";
import { useStore } from "zustand";
import { lazyLibrary } from "../lazy-library.ts";

const loads: (() => Promise<void>)[] = [];

/**
 * Returns a component that loads its code when it is first rendered, and renders `meanwhile` until then. Parts that `preload`
 * has loaded are there at once: keys typed right after a shortcut that opens a dialog go to the dialog. Not React's
 * `lazy`: while answers grow, what has loaded would wait for up to seconds, since every growing word comes before it.
 */
export function lazyComponent<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile: ReactNode = null,
): ComponentType<Props> {
  const lazy = lazyLibrary(async () => {
    const [Part] = await Promise.all([load(), import("../late.css")]);
    return { Part };
  });
  loads.push(lazy.load);
  return function LazyComponent(props: Props) {
    const { library, isMissing } = useStore(lazy.store);
    useEffect(() => {
      void lazy.load();
    }, []);
    if (library) return <library.Part {...props} />;
    if (!isMissing) return meanwhile;
    return <p role="alert">This part of the page could not be loaded. Reload the page when the network is back.</p>;
  };
}

/** Loads all parts' code, one after the other, then marks "parts-loaded". What fails is tried again when it is rendered. */
export async function preload(): Promise<void> {
  // Parts of parts are added while these load.
  for (const load of loads) await load();
  performance.mark("parts-loaded");
}
