import { useEffect, type ComponentType, type ReactNode } from "react";
import { lateLibrary } from "../late-library.ts";
import { useStore } from "../use-store.ts";

const loads: (() => Promise<void>)[] = [];

/**
 * Returns a component that loads its code when it is first rendered, and renders `meanwhile` until then. Parts that `loadParts`
 * has loaded are there at once: keys typed right after a shortcut that opens a dialog go to the dialog. Not React's
 * `lazy`: while answers grow, what has loaded would wait for up to seconds, since every growing word comes before it.
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile: ReactNode = null,
): ComponentType<Props> {
  const late = lateLibrary(async () => {
    const [Part] = await Promise.all([load(), import("../late.css")]);
    return { Part };
  });
  loads.push(late.load);
  return function Lazily(props: Props) {
    const { library, isMissing } = useStore(late.store);
    useEffect(() => {
      void late.load();
    }, []);
    if (library) return <library.Part {...props} />;
    return isMissing ? <NotLoaded /> : meanwhile;
  };
}

/**
 * Loads the code of all parts of the page, one after the other, and then marks "parts-loaded" in the page's performance. Parts
 * that can't be loaded now are tried again when they are rendered.
 */
export async function loadParts(): Promise<void> {
  // Parts of parts are added while these load.
  for (const load of loads) await load();
  performance.mark("parts-loaded");
}

function NotLoaded() {
  return <p role="alert">This part of the page could not be loaded. Reload the page when the network is back.</p>;
}
