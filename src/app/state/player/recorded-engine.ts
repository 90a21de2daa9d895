import { BlockLedger, type KvCacheMap, type RecordedEvent, type Recording } from "../../../index.ts";
import type { WatchedEngine } from "../batch/watched-engine.ts";

/** A recording instead of an engine: its map of the cache is as it was after the given events. */
export class RecordedEngine implements WatchedEngine {
  readonly config: WatchedEngine["config"];
  readonly #ledger: BlockLedger;

  constructor({ model, config }: Recording) {
    this.config = config;
    this.#ledger = new BlockLedger(model, config.enablePrefixCaching);
  }

  addEvent(event: RecordedEvent): void {
    if (event.type === "step") this.#ledger.addStep(event);
    else if (event.type === "request") this.#ledger.addRequest(event);
  }

  async kvCacheMap(): Promise<KvCacheMap> {
    return this.#ledger.map();
  }
}
