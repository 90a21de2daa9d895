import type { RemoteObserver } from "../../remote/remote-answer.ts";
import type { ServerBatch } from "../../remote/server-metrics.ts";
import { SlidingRate } from "../batch/sliding-window.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** The known figures of a server's batch. */
export interface RemoteBatch {
  readonly baseUrl: string;
  /** Number of this page's open requests there. */
  readonly ownOpen: number;
  /** Rate of this page's answers. */
  readonly ownTokensPerSecond: number;
  /** Figures from its metrics; null if they can't be read, or were not yet. */
  readonly server: ServerBatch | null;
  /** Rate of all its answers, from two readings of its metrics. */
  readonly serverTokensPerSecond: number | null;
  /** Whether its metrics can't be read, so that only this page's own figures are shown. */
  readonly isBlind: boolean;
}

const WINDOW_MS = 5000;
/** The time between two readings of a server's metrics. */
const READ_EVERY_MS = 1000;
/** A server is shown for this long after its last answer. */
const SHOWN_MS = 60_000;

export type ReadBatch = (baseUrl: string) => Promise<ServerBatch>;

interface Watched {
  readonly open: Map<string, number>;
  readonly rate: SlidingRate;
  usedMs: number;
  readMs: number;
  isReading: boolean;
  shown: RemoteBatch;
}

/** The batches of the servers that answer this page. They are read while it has requests there, and no longer. */
export class RemoteBatches {
  readonly #store = createStore<readonly RemoteBatch[]>(() => []);
  readonly store: ReadonlyStore<readonly RemoteBatch[]> = this.#store;
  readonly #watched = new Map<string, Watched>();
  readonly #read: ReadBatch;
  readonly #now: () => number;

  constructor(read: ReadBatch, now: () => number) {
    this.#read = read;
    this.#now = now;
  }

  /** Observes the requests to one server, for `next` too. */
  observer(baseUrl: string, next: RemoteObserver): RemoteObserver {
    return {
      sent: (name) => {
        next.sent(name);
        this.#of(baseUrl).open.set(name, 0);
      },
      received: (name, numTokens) => {
        next.received(name, numTokens);
        const { open, rate } = this.#of(baseUrl);
        const nowMs = this.#now();
        rate.add(nowMs, nowMs, numTokens - (open.get(name) ?? 0));
        open.set(name, numTokens);
      },
      ended: (name) => {
        next.ended(name);
        this.#of(baseUrl).open.delete(name);
      },
    };
  }

  /** Updates the figures, and reads metrics that are due. Called every FIGURES_INTERVAL_MS. */
  tick(): void {
    if (this.#watched.size === 0) return;
    const nowMs = this.#now();
    for (const [baseUrl, watched] of this.#watched) {
      if (watched.open.size > 0) watched.usedMs = nowMs;
      if (nowMs - watched.usedMs > SHOWN_MS) this.#watched.delete(baseUrl);
      // Once more after the last answer, so that the shown figures are final.
      const isDue = nowMs - watched.readMs >= READ_EVERY_MS && watched.usedMs >= watched.readMs;
      if (isDue && !watched.isReading && !watched.shown.isBlind) void this.#readInto(watched, baseUrl, nowMs);
      const rate = Math.round(watched.rate.at(nowMs) * 10) / 10;
      watched.shown = { ...watched.shown, ownOpen: watched.open.size, ownTokensPerSecond: rate };
    }
    const shown = Array.from(this.#watched.values(), (watched) => watched.shown);
    if (JSON.stringify(shown) !== JSON.stringify(this.#store.getState())) this.#store.setState(shown, true);
  }

  async #readInto(watched: Watched, baseUrl: string, nowMs: number): Promise<void> {
    const { server: before } = watched.shown;
    const elapsedS = (nowMs - watched.readMs) / 1000;
    watched.isReading = true;
    watched.readMs = nowMs;
    try {
      const server = await this.#read(baseUrl);
      const made = before === null ? null : (server.generatedTokens ?? 0) - (before.generatedTokens ?? 0);
      const isCounted = made !== null && made >= 0 && server.generatedTokens !== null;
      watched.shown = { ...watched.shown, server, serverTokensPerSecond: isCounted ? made / elapsedS : null };
    } catch {
      // A server that was readable before may only be busy.
      watched.shown = { ...watched.shown, server: null, serverTokensPerSecond: null, isBlind: before === null };
    }
    watched.isReading = false;
  }

  #of(baseUrl: string): Watched {
    const known = this.#watched.get(baseUrl);
    if (known) return known;
    const figures = { ownOpen: 0, ownTokensPerSecond: 0, server: null, serverTokensPerSecond: null, isBlind: false };
    const watched: Watched = {
      open: new Map(),
      rate: new SlidingRate(WINDOW_MS, 1000),
      usedMs: this.#now(),
      readMs: -Infinity,
      isReading: false,
      shown: { baseUrl, ...figures },
    };
    this.#watched.set(baseUrl, watched);
    return watched;
  }
}
