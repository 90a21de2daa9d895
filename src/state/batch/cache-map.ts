import type { ChorusEngine } from "../../protocol/engine.ts";
import type { KvCacheMap } from "../../protocol/reports.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** The map of the cache's blocks, asked for while somebody looks at it. */
export class CacheMap {
  readonly #store = createStore<KvCacheMap | null>(() => null);
  readonly store: ReadonlyStore<KvCacheMap | null> = this.#store;
  #engine: ChorusEngine | null = null;
  #lookers = 0;
  #isAsking = false;
  /** The step after which the map was last asked for. */
  #askedAt: object | null = null;

  watch(engine: ChorusEngine | null): void {
    this.#engine = engine;
    this.#askedAt = null;
    if (engine === null) this.#store.setState(null, true);
  }

  /** Somebody looks at it, until the returned function is called. */
  readonly look = (): (() => void) => {
    this.#lookers += 1;
    this.#askedAt = null;
    return () => (this.#lookers -= 1);
  };

  /** Asks again where something may have changed since: `state` is another object then. */
  async tick(state: object): Promise<void> {
    const engine = this.#engine;
    if (engine === null || this.#lookers === 0 || this.#isAsking || this.#askedAt === state) return;
    this.#askedAt = state;
    this.#isAsking = true;
    try {
      const map = await engine.kvCacheMap();
      if (this.#engine === engine) this.#store.setState(map, true);
    } catch {
      // The engine died; its fatal event says so, and the next watch() starts afresh.
    } finally {
      this.#isAsking = false;
    }
  }
}
