import {
  BlockLedger,
  ChorusError,
  type EngineEvents,
  type KvCacheMap,
  type ModelCard,
  type RecordedEvent,
  type Recording,
} from "../../../index.ts";
import type { WatchedEngine } from "../batch/watched-engine.ts";

type Listener = (payload: never) => void;

/** A recording instead of an engine: it emits given events, and its map is as it was then. */
export class RecordedEngine implements WatchedEngine {
  readonly model: ModelCard;
  readonly config: WatchedEngine["config"];
  readonly #ledger: BlockLedger;
  readonly #listeners = new Map<keyof EngineEvents, Set<Listener>>();

  constructor({ model, config, events }: Recording) {
    this.model = model;
    const step = events.find((event) => event.type === "step");
    this.config = {
      maxNumSeqs: config?.maxNumSeqs ?? step?.maxNumSeqs ?? 0,
      maxNumBatchedTokens: config?.maxNumBatchedTokens ?? step?.maxNumBatchedTokens ?? 0,
      batchingMode: config?.batchingMode ?? "continuous",
    };
    this.#ledger = new BlockLedger(model, config?.enablePrefixCaching ?? true);
  }

  on<Name extends keyof EngineEvents>(name: Name, listener: (payload: EngineEvents[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set<Listener>();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => listeners.delete(listener);
  }

  /** Emits an event that the engine emitted in the run. */
  notify(event: RecordedEvent): void {
    if (event.type === "step") {
      this.#ledger.addStep(event);
      this.#emit("step", event);
    } else if (event.type === "request") {
      this.#ledger.addRequest(event);
      this.#emit("request", event);
    } else if (event.type === "alert") this.#emit("alert", event);
  }

  async kvCacheMap(): Promise<KvCacheMap> {
    return this.#ledger.map();
  }

  stats = notRecorded;
  metrics = notRecorded;
  kvBlockTokens = notRecorded;
  detokenize = notRecorded;
  update = notRecorded;

  #emit<Name extends keyof EngineEvents>(name: Name, payload: EngineEvents[Name]): void {
    for (const listener of this.#listeners.get(name) ?? [])
      (listener as (payload: EngineEvents[Name]) => void)(payload);
  }
}

function notRecorded(): Promise<never> {
  return Promise.reject(new ChorusError("unsupported_parameter", "A recording has only what was recorded."));
}
