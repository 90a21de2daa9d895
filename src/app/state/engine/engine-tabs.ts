import { isNamed } from "../models/model-choice.ts";
import { randomId } from "../../../index.ts";
import { attempt } from "../../attempt.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { keyOfEngine, type EngineChoice, type EngineControl } from "./engine-control.ts";

/** The browser's means of communication between tabs. */
export interface EngineTabsPlatform {
  readonly locks: Pick<LockManager, "request" | "query">;
  /** Sends choices to other tabs, and that there is another engine. */
  readonly channel: Pick<BroadcastChannel, "postMessage" | "addEventListener">;
  /** Whether the browser has shared workers, in which one engine serves several tabs. */
  readonly canShare: boolean;
  /** This tab's page. Other tabs' engines are followed only while it is visible. */
  readonly page: Pick<Document, "visibilityState" | "addEventListener">;
}

/** The memory of the engines of the app's tabs: weights and cache. */
export interface TabsMemory {
  /** This tab's engine; null while there is none. */
  readonly hereBytes: number | null;
  /** Engines of other tabs, without the one that this tab shares. */
  readonly numOthers: number;
  readonly othersBytes: number;
}

/** A choice as tabs send it to each other. */
interface SentChoice {
  readonly choice: EngineChoice;
  /** Milliseconds since 1970, later than all choices that this tab knew. */
  readonly atMs: number;
  readonly tab: string;
}

const LOCK = "chorus.engine";
/** Sent when a tab has another engine. */
const NEW_ENGINE = "new engine";
/** Engines end without a message: their tabs are closed, or crash. */
const REFRESH_INTERVAL_MS = 1000;

/**
 * Synchronises the tabs of the app: tabs that share an engine share its choice, and each tab knows the memory of all engines.
 * A tab with an engine holds a lock whose name contains its memory, so a crashed tab is no longer counted either.
 */
export class EngineTabs {
  readonly #engine: EngineControl;
  readonly #platform: EngineTabsPlatform;
  readonly canShare: boolean;
  readonly #store = createStore<TabsMemory>(() => ({ hereBytes: null, numOthers: 0, othersBytes: 0 }));
  readonly store: ReadonlyStore<TabsMemory> = this.#store;
  readonly #tab = randomId();
  /** The newest choice that this tab knows of. */
  #newest: Pick<SentChoice, "atMs" | "tab"> = { atMs: 0, tab: "" };
  /** The lock of this tab's engine. */
  #held: { readonly key: string; readonly name: string; readonly release: () => void } | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(engine: EngineControl, platform: EngineTabsPlatform) {
    this.#engine = engine;
    this.#platform = platform;
    this.canShare = platform.canShare;
    const { channel, page } = platform;
    engine.onChosen((choice, isSharedChanged) => {
      // A model of files is this tab's alone.
      if (!isNamed(choice.model) || !(choice.isShared || isSharedChanged)) return;
      const sent = { choice, atMs: Math.max(Date.now(), this.#newest.atMs + 1), tab: this.#tab };
      this.#newest = sent;
      // If it can't be sent, it counts here. The other tabs keep theirs until the next one.
      attempt(() => channel.postMessage(sent satisfies SentChoice), null);
    });
    channel.addEventListener("message", (event) => {
      const received = (event as MessageEvent<SentChoice | typeof NEW_ENGINE | null>).data;
      if (received === null) return; // it could not be read
      if (received === NEW_ENGINE) return void this.refresh();
      // Tabs that choose at the same moment would swap their choices: all of them follow the later one.
      const { atMs, tab } = this.#newest;
      if (received.atMs === atMs ? received.tab <= tab : received.atMs < atMs) return;
      this.#newest = received;
      void engine.follow(received.choice);
    });
    engine.store.subscribe(() => this.#follow());
    engine.chosen.subscribe((now, before) => now.config !== before.config && this.#follow());
    this.#follow();
    page.addEventListener("visibilitychange", () => void this.refresh());
    void this.refresh();
  }

  /** Reads which engines there are; again and again while this tab is visible and others have some. */
  async refresh(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#platform.page.visibilityState === "hidden") return;
    const { held = [] } = await this.#platform.locks.query().catch((): LockManagerSnapshot => ({}));
    const names = new Set(held.flatMap(({ name }) => (name?.startsWith(`${LOCK} `) ? [name] : [])));
    if (this.#held) names.delete(this.#held.name);
    const bytes = [...names].map((name) => Number(name.split(" ")[1]));
    const othersBytes = bytes.reduce((sum, each) => sum + each, 0);
    const before = this.#store.getState();
    if (before.numOthers !== bytes.length || before.othersBytes !== othersBytes) {
      this.#store.setState({ numOthers: bytes.length, othersBytes });
    }
    clearTimeout(this.#timer);
    if (bytes.length > 0) this.#timer = setTimeout(() => void this.refresh(), REFRESH_INTERVAL_MS);
  }

  #follow(): void {
    const state = this.#engine.store.getState();
    if (state.status !== "ready") {
      this.#letGo();
      this.#store.setState({ hereBytes: null });
      return;
    }
    const { weightBytes, kvCacheBytes } = state.engine.model;
    const hereBytes = weightBytes + kvCacheBytes;
    // Another name: the engine's config has changed, and all tabs that share it use its new name.
    const key = keyOfEngine(this.#engine.chosen.getState());
    if (this.#held && (this.#held.key === key || !this.#engine.chosen.getState().isShared)) return;
    this.#letGo();
    this.#store.setState({ hereBytes });
    const name = `${LOCK} ${hereBytes} ${key}`;
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#held = { key, name, release };
    // Tabs that share an engine hold the same lock.
    const granted = () => {
      this.#platform.channel.postMessage(NEW_ENGINE);
      void this.refresh();
      return released;
    };
    void this.#platform.locks.request(name, { mode: "shared" }, granted).catch(() => undefined);
  }

  #letGo(): void {
    this.#held?.release();
    this.#held = null;
  }
}
