import type { CreateEngine } from "../engine/engine-control.ts";

/** A page may load no model, and a large one takes minutes. */
const MAX_WAIT_MS = 10_000;
/** Questions asked while the model was loading have answers by then. */
const PAUSE_MS = 2000;

/** Returns `create`, watched: `afterFirstLoad` resolves two seconds after its first engine is loaded, twelve at the latest. */
export function watchFirstLoad(create: CreateEngine): { createEngine: CreateEngine; afterFirstLoad: Promise<void> } {
  let onFirstLoad: (loading: Promise<unknown>) => void = () => undefined;
  const firstLoad = new Promise<unknown>((resolve) => (onFirstLoad = resolve));
  const createEngine: CreateEngine = (options) => {
    const loading = create(options);
    onFirstLoad(loading.catch(() => undefined)); // the caller of the load handles the error
    return loading;
  };
  const afterFirstLoad = Promise.race([firstLoad, sleep(MAX_WAIT_MS)]).then(() => sleep(PAUSE_MS));
  return { createEngine, afterFirstLoad };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
