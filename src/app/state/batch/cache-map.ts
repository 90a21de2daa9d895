import type { KvBlockTokens, KvCacheMap } from "../../../index.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { WatchedEngine } from "./watched-engine.ts";

const NOTHING: KvBlockTokens = { tokenIds: [], sequence: null, start: null };

/** `start` is the position of its first token in `sequence`. Null if the block is only cached. */
export type BlockContent = NonNullable<Awaited<ReturnType<CacheMap["contentOf"]>>>;

/** The map of the cache's blocks. It is requested only while it is visible. */
export class CacheMap {
  readonly #store = createStore<KvCacheMap | null>(() => null);
  readonly store: ReadonlyStore<KvCacheMap | null> = this.#store;
  #engine: WatchedEngine | null = null;
  #numWatching = 0;
  #isAsking = false;
  /** The newest state, and the one in which the map was last requested. */
  #state: object = {};
  #requestedAt: object | null = null;

  watch(engine: WatchedEngine | null): void {
    this.#engine = engine;
    this.#requestedAt = null;
    if (engine === null) this.#store.setState(null, true);
  }

  /** Marks the map as visible until the returned function is called. */
  readonly watchWhileVisible = (): (() => void) => {
    this.#numWatching += 1;
    this.#requestedAt = null;
    void this.tick(this.#state);
    return () => (this.#numWatching -= 1);
  };

  /** Returns a block's content now; null if it is empty, or no engine runs. */
  async contentOf(block: number) {
    const engine = this.#engine;
    try {
      const { tokenIds, sequence, start } = (await engine?.kvBlockTokens?.(block)) ?? NOTHING;
      const read = tokenIds.length > 0 ? await engine?.detokenize?.({ tokens: [...tokenIds] }) : undefined;
      return read ? { text: read.prompt, sequence, start, numTokens: tokenIds.length } : null;
    } catch {
      // As in `tick`.
      return null;
    }
  }

  /** Requests the map again if `state` is another object, so something may have changed. */
  async tick(state: object): Promise<void> {
    this.#state = state;
    const engine = this.#engine;
    if (engine === null || this.#numWatching === 0 || this.#isAsking || this.#requestedAt === state) return;
    this.#requestedAt = state;
    this.#isAsking = true;
    try {
      const map = await engine.kvCacheMap();
      if (this.#engine === engine) this.#store.setState(map, true);
    } catch {
      // The engine died. Its fatal event reports that, and the next watch() starts afresh.
    } finally {
      this.#isAsking = false;
    }
    await this.tick(this.#state); // it may have changed meanwhile
  }
}
