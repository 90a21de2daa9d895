import type { BatchingMode, ChorusEngine } from "../../../index.ts";
import { DEFAULT_MODE } from "../settings/serving-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

type Engine = Pick<ChorusEngine, "on" | "config" | "update">;

/**
 * How the page's engine batches. The choice outlives the engine: the next one begins with it. Where tabs share an engine, each
 * follows what the others choose.
 */
export class BatchingModeControl {
  readonly #store = createStore<BatchingMode>(() => DEFAULT_MODE);
  readonly store: ReadonlyStore<BatchingMode> = this.#store;
  readonly #held = createStore<boolean>(() => false);
  /** True while the demo sets the mode: people can't choose it then. */
  readonly held: ReadonlyStore<boolean> = this.#held;
  #engine: Engine | null = null;
  /** Choices that the engine has not taken yet. */
  #numPending = 0;
  /** The mode that the engine has reported since the last choice; null if none. */
  #engineMode: BatchingMode | null = null;
  #isFollowing = false;

  /** Whether the mode was chosen in another tab. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  watch(engine: Engine | null): void {
    this.#engine = engine;
    this.#engineMode = null;
    if (engine === null) return;
    engine.on("config", ({ batchingMode: mode }) => {
      if (engine !== this.#engine) return;
      this.#engineMode = mode;
      // A pending choice is newer than this.
      if (this.#numPending === 0) this.#follow(mode);
    });
    const { batchingMode } = engine.config;
    if (batchingMode !== DEFAULT_MODE) this.#follow(batchingMode);
    else if (this.store.getState() !== DEFAULT_MODE) this.#applyToEngine();
  }

  hold(isHeld: boolean): void {
    this.#held.setState(isHeld, true);
  }

  choose(mode: BatchingMode): void {
    this.#isFollowing = false;
    this.#engineMode = null;
    this.#store.setState(mode, true);
    if (this.#numPending > 0 || this.#engine?.config.batchingMode !== mode) this.#applyToEngine();
  }

  #follow(mode: BatchingMode): void {
    if (mode === this.store.getState()) return;
    this.#isFollowing = true;
    this.#store.setState(mode, true);
  }

  #applyToEngine(): void {
    if (this.#engine === null) return;
    this.#numPending += 1;
    // It refuses only when it is gone, which its fatal event reports.
    const taken = () => {
      this.#numPending -= 1;
      if (this.#numPending === 0 && this.#engineMode !== null) this.#follow(this.#engineMode);
    };
    this.#engine.update({ batchingMode: this.store.getState() }).then(taken, taken);
  }
}
