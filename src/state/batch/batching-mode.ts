import type { BatchingMode } from "../../protocol/config.ts";
import type { ChorusEngine } from "../../protocol/engine.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** How the page's engine batches. The choice outlives the engine: the next one begins with it. */
export class BatchingModeControl {
  readonly store: ReadonlyStore<BatchingMode>;
  readonly #store = createStore<BatchingMode>(() => "continuous");
  /** Whether it is not for the person to choose now: the demo compares modes. */
  readonly held: ReadonlyStore<boolean>;
  readonly #held = createStore<boolean>(() => false);
  #engine: ChorusEngine | null = null;

  constructor() {
    this.store = this.#store;
    this.held = this.#held;
  }

  watch(engine: ChorusEngine | null): void {
    this.#engine = engine;
    if (this.store.getState() !== "continuous") this.#tellEngine();
  }

  hold(isHeld: boolean): void {
    this.#held.setState(isHeld, true);
  }

  choose(mode: BatchingMode): void {
    this.#store.setState(mode, true);
    this.#tellEngine();
  }

  #tellEngine(): void {
    // It refuses only when it is gone, which its fatal event says.
    void this.#engine?.setBatchingMode(this.store.getState()).catch(() => undefined);
  }
}
