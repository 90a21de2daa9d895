import type { ChorusErrorCode, ChorusErrorData } from "../../../index.ts";
import type { EngineControl } from "./engine-control.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** Errors that a restart can cure. A lost device isn't one: the engine has already tried others. */
const CURABLE: ReadonlySet<ChorusErrorCode> = new Set(["worker_died"]);
/** If the engine dies again within this time, a restart doesn't help, and a person must decide. */
const PAUSE_MS = 5 * 60_000;

/**
 * Follows an engine that replaces a lost device by itself, and restarts one that died; waiting questions are then sent. Returns
 * the error it recovers from; null: the engine runs, or a person has to decide.
 * @param now the page's clock, milliseconds
 */
export function recoverEngine(engine: EngineControl, now: () => number): ReadonlyStore<ChorusErrorData | null> {
  const store = createStore<ChorusErrorData | null>(() => null);
  let lastMs = -Infinity;
  engine.store.subscribe((state) => {
    if (state.status === "loading") return;
    if (state.status === "ready") {
      state.engine.on("device", ({ status, loss }) => store.setState(status === "lost" ? loss : null, true));
    }
    const cause = state.status === "dead" && CURABLE.has(state.error.code) ? state.error : null;
    const isAgain = now() - lastMs < PAUSE_MS;
    store.setState(isAgain ? null : cause, true);
    if (cause === null || isAgain) return;
    lastMs = now();
    // After all other listeners have seen that it died.
    queueMicrotask(() => void engine.start());
  });
  return store;
}
