import type { ApiCall } from "../../service-worker/page-api-messages.ts";
import { CLAIM, switchName } from "../../service-worker/page-api-messages.ts";
import type { EngineControl } from "../engine/engine-control.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

interface SiteApiState {
  /** Where the API is: "https://host.example/some/where/v1". Null: there is no service worker. */
  readonly url: string | null;
  readonly isOn: boolean;
}

/** What a browser has for it. */
export interface SiteApiHome {
  readonly workers: Pick<ServiceWorkerContainer, "ready" | "addEventListener" | "startMessages">;
  readonly caches: Pick<CacheStorage, "has" | "open" | "delete">;
  readonly locks: Pick<LockManager, "request">;
  /** Tells other tabs that the switch was turned. */
  readonly channel: Pick<BroadcastChannel, "postMessage" | "addEventListener">;
}

/**
 * Answers OpenAI's paths for all pages of the origin, through the service worker. Off unless switched on. Of several tabs
 * the one with the lock answers; when it closes, the next gets the lock.
 */
export class SiteApi {
  readonly #engine: EngineControl;
  readonly #home: SiteApiHome;
  readonly #store = createStore<SiteApiState>(() => ({ url: null, isOn: false }));
  readonly store: ReadonlyStore<SiteApiState> = this.#store;
  #registration: ServiceWorkerRegistration | null = null;
  /** Gives the lock back, or leaves its queue. Null: this tab has no part in it. */
  #leave: (() => void) | null = null;
  #isHolder = false;

  constructor(engine: EngineControl, home: SiteApiHome) {
    this.#engine = engine;
    this.#home = home;
  }

  /** Resolves once there is a service worker, which is after a page's first visit. */
  async start(): Promise<void> {
    const { workers, channel } = this.#home;
    this.#registration = await workers.ready;
    const { scope } = this.#registration;
    workers.addEventListener("message", (event) => void this.#receive(event as MessageEvent<ApiCall>));
    workers.startMessages();
    channel.addEventListener("message", () => void this.#read());
    this.#engine.store.subscribe(() => this.#follow());
    this.#store.setState({ url: new URL("v1", scope).href });
    await this.#read();
    if (this.#store.getState().isOn) this.#claim();
  }

  /** Switches it on or off for all tabs, and until that is changed. */
  async turn(isOn: boolean): Promise<void> {
    const { caches, channel } = this.#home;
    if (this.#registration === null) return;
    const name = switchName(this.#registration.scope);
    this.#store.setState({ isOn }); // what is clicked shows at once
    if (isOn) await caches.open(name);
    else await caches.delete(name);
    channel.postMessage(isOn);
    await this.#read();
    if (isOn) this.#claim();
  }

  async #read(): Promise<void> {
    if (this.#registration === null) return;
    this.#store.setState({ isOn: await this.#home.caches.has(switchName(this.#registration.scope)) });
    this.#follow();
  }

  /** A page's own requests reach the service worker only if it controls the page. After the first visit it doesn't yet. */
  #claim(): void {
    this.#registration?.active?.postMessage(CLAIM);
  }

  /** Queues for the lock while there is an engine, or one to come. */
  #follow(): void {
    const { status } = this.#engine.store.getState();
    const wants = this.#store.getState().isOn && (status === "ready" || status === "loading");
    if (wants && this.#leave === null) void this.#hold();
    else if (!wants) this.#leave?.();
  }

  async #hold(): Promise<void> {
    const waiting = new AbortController();
    let release = () => {};
    const released = new Promise<void>((resolve) => (release = resolve));
    this.#leave = () => {
      this.#leave = null;
      this.#isHolder = false;
      waiting.abort();
      release();
    };
    const hold = async () => {
      this.#isHolder = !waiting.signal.aborted;
      await released;
    };
    const name = switchName(this.#registration?.scope ?? "");
    // Rejects where it left the queue.
    await this.#home.locks.request(name, { signal: waiting.signal }, hold).catch(() => undefined);
  }

  async #receive({ data, ports }: MessageEvent<ApiCall>): Promise<void> {
    const [port] = ports;
    if (port === undefined || data.type !== "chorus-api" || data.scope !== this.#registration?.scope) return;
    const { answerThrough, declineThrough, notReady } = await import("../../service-worker/page-api.ts");
    const state = this.#engine.store.getState();
    if (!this.#isHolder) declineThrough(port);
    else answerThrough(port, state.status === "ready" ? (request) => state.engine.fetch(request) : notReady);
  }
}
