import type { ChorusErrorCode, ChorusErrorData } from "../../protocol/errors.ts";
import type { EngineControl } from "./engine-control.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** What a fresh start can cure. Memory that was not enough will not be enough again. */
const CURABLE: ReadonlySet<ChorusErrorCode> = new Set(["device_lost", "worker_died"]);
/** An engine that dies again so soon has something that a start does not cure: then a person is asked. */
const PAUSE_MS = 5 * 60_000;

/** Starts the engine again by itself when it died; questions that wait are then sent. */
export class EngineRecovery {
  readonly #store = createStore<ChorusErrorData | null>(() => null);
  /** Why it is being started again; null: it runs, or a person is asked. */
  readonly store: ReadonlyStore<ChorusErrorData | null> = this.#store;

  /** `now`: the page's clock, milliseconds. */
  constructor(engine: EngineControl, now: () => number) {
    let lastMs = -Infinity;
    engine.store.subscribe((state) => {
      if (state.status === "loading") return;
      const cause = state.status === "dead" && CURABLE.has(state.error.code) ? state.error : null;
      const isAgain = now() - lastMs < PAUSE_MS;
      this.#store.setState(isAgain ? null : cause, true);
      if (cause === null || isAgain) return;
      lastMs = now();
      // When all others have heard of the death.
      queueMicrotask(() => void engine.start());
    });
  }
}
