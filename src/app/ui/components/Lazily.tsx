import { useEffect, useState, type ComponentType, type ReactNode } from "react";

const partsToLoad = new Set<() => Promise<unknown>>();

/**
 * Returns a component that loads its code when it is first rendered, and renders `meanwhile` until then. Parts that `loadParts`
 * has loaded are there at once: keys typed right after a shortcut that opens a dialog go to the dialog. Not React's
 * `lazy`: while answers grow, what has loaded would wait for up to seconds, since every growing word comes before it.
 */
export function lazily<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  meanwhile: ReactNode = null,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  const loadPart = async () => {
    [loaded] = await Promise.all([load(), import("../late.css")]);
    partsToLoad.delete(loadPart);
    return loaded;
  };
  partsToLoad.add(loadPart);
  return function Lazily(props: Props) {
    // It must stay the same component while it is rendered, or it would lose its state.
    const [Part, setPart] = useState<ComponentType<Props> | null>(() => loaded);
    useEffect(() => {
      if (Part === null)
        void loadPart().then(
          (part) => setPart(() => part),
          () => setPart(() => NotLoaded),
        );
    }, [Part]);
    return Part ? <Part {...props} /> : meanwhile;
  };
}

/**
 * Loads the code of all parts of the page, one after the other, and then marks "parts-loaded" in the page's performance. Parts
 * that can't be loaded now are tried again when they are rendered.
 */
export async function loadParts(): Promise<void> {
  // Parts of parts are added while these load.
  for (const loadPart of partsToLoad) await loadPart().catch(() => undefined);
  performance.mark("parts-loaded");
}

function NotLoaded() {
  return <p role="alert">This part of the page could not be loaded. Reload the page when the network is back.</p>;
}
