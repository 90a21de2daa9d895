import type { BatchingMode } from "../../protocol/config.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { WatchedEngine } from "./watched-engine.ts";

/** How the page's engine batches. The choice outlives the engine: the next one begins with it. */
export class BatchingModeControl {
  readonly #store = createStore<BatchingMode>(() => "continuous");
  readonly store: ReadonlyStore<BatchingMode> = this.#store;
  readonly #held = createStore<boolean>(() => false);
  /** True while the demo sets the mode: people can't choose it then. */
  readonly held: ReadonlyStore<boolean> = this.#held;
  #engine: WatchedEngine | null = null;

  watch(engine: WatchedEngine | null): void {
    this.#engine = engine;
    if (this.store.getState() !== "continuous") this.#applyToEngine();
  }

  hold(isHeld: boolean): void {
    this.#held.setState(isHeld, true);
  }

  choose(mode: BatchingMode): void {
    this.#store.setState(mode, true);
    this.#applyToEngine();
  }

  #applyToEngine(): void {
    // It refuses only when it is gone, which its fatal event says.
    void this.#engine?.setBatchingMode(this.store.getState()).catch(() => undefined);
  }
}
