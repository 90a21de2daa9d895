import type { EngineConfig, ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { EngineChanges } from "../protocol/live-config.ts";
import type { ModelLocation } from "../protocol/model-source.ts";
import type { Alert, LoadProgress } from "../protocol/reports.ts";
import {
  EMPTY_MESSAGE,
  isFinal,
  OPTIONAL_REPORTS,
  type EngineMessage,
  type EngineService,
  type GenerationRequest,
  type LoadedEngine,
  type OptionalReports,
} from "../protocol/service.ts";

interface Running {
  readonly service: EngineService;
  readonly loaded: Promise<LoadedEngine>;
  /** Null: still as it was loaded. */
  config: ResolvedEngineConfig | null;
}

/** Which page asked, under which ticket of its own. */
interface Owner {
  readonly page: SharedPage;
  readonly ticket: number;
}

/**
 * Returns what makes the service of one more page. Pages share an engine for each model and configuration, as it was asked for or
 * changed since.
 */
export function sharedEngines(open: () => EngineService): () => EngineService {
  const engines = new Map<string, SharedEngine>();
  const engineFor = (location: ModelLocation, config: EngineConfig): SharedEngine => {
    // Files of one page can't be compared with another's.
    if (location.type === "files") return new SharedEngine(open, () => undefined);
    const key = keyOf(location, config);
    const known = engines.get(key);
    if (known !== undefined) return known;
    const engine: SharedEngine = new SharedEngine(open, (before, after) => {
      const [from, to] = [keyOf(location, before), keyOf(location, after)];
      if (engines.get(from) === engine) engines.delete(from);
      // Pages may have another engine with just this configuration: whoever comes next joins that one.
      if (!engines.get(to)?.isRunning) engines.set(to, engine);
    });
    engines.set(key, engine);
    return engine;
  };
  return () => new SharedPage(engineFor);
}

/**
 * Returns a key that is equal where pages share an engine. Names come in any order, and null is the default. The batching mode
 * and the thresholds of alerts are no part of it: pages choose them for all while the engine runs.
 */
function keyOf(location: ModelLocation, config: EngineConfig): string {
  const { batchingMode: _, alerts: __, ...lasting } = config;
  const requested = Object.entries(lasting).filter(([, value]) => (value ?? null) !== null);
  const key = [location, requested.toSorted(([a], [b]) => (a < b ? -1 : 1))];
  return JSON.stringify(key, (name, value: unknown) => (name === "token" ? undefined : value));
}

/**
 * One engine for several pages. Each hears of its own answers; reports of requests, devices and alerts go to all; steps,
 * words and kernels go to those that listen.
 */
class SharedEngine {
  readonly #open: () => EngineService;
  readonly #onChanged: (before: EngineConfig, after: EngineConfig) => void;
  readonly #pages = new Set<SharedPage>();
  readonly #owners = new Map<number, Owner>();
  /** Pages that listen. */
  readonly #readers: Readonly<Record<OptionalReports, Set<SharedPage>>> = {
    steps: new Set(),
    words: new Set(),
    kernels: new Set(),
  };
  /** The alerts that are raised now, by their names: who joins hears of them. */
  readonly #raised = new Map<string, Alert>();
  #running: Running | null = null;
  /** Its pages' configuration, with all changes since. */
  #config: EngineConfig = {};
  #nextTicket = 1;

  /**
   * @param open makes the engine when the first page loads a model, and again after the last one has left
   * @param onChanged called after a page has changed the configuration
   */
  constructor(open: () => EngineService, onChanged: (before: EngineConfig, after: EngineConfig) => void) {
    this.#open = open;
    this.#onChanged = onChanged;
  }

  get isRunning(): boolean {
    return this.#running !== null;
  }

  get service(): EngineService {
    if (this.#running === null) throw notLoaded();
    return this.#running.service;
  }

  async load(page: SharedPage, location: ModelLocation, config: EngineConfig): Promise<LoadedEngine> {
    const isFirst = this.#running === null;
    if (isFirst) this.#config = config;
    const running = (this.#running ??= this.#start(location, config));
    this.#pages.add(page);
    try {
      const loaded = await running.loaded;
      if (this.#raised.size > 0) page.onMessage({ ...EMPTY_MESSAGE, alerts: [...this.#raised.values()] });
      // Who joins finds what the others have chosen, but for what it asks for itself.
      const { batchingMode, alerts } = config;
      const asked = { ...(batchingMode && { batchingMode }), ...(alerts && { alerts }) };
      if (!isFirst && Object.keys(asked).length > 0) await this.update(asked);
      return { ...loaded, config: running.config ?? loaded.config };
    } catch (error) {
      this.leave(page);
      throw error;
    }
  }

  submit(page: SharedPage, ticket: number, request: GenerationRequest): void {
    const own = this.#nextTicket++;
    this.#owners.set(own, { page, ticket });
    this.service.submit(own, request);
  }

  /** Ends a page's request; without a ticket, all of them. */
  abort(page: SharedPage, ticket?: number): void {
    for (const [own, owner] of this.#owners) {
      if (owner.page !== page || (ticket ?? owner.ticket) !== owner.ticket) continue;
      this.#owners.delete(own);
      this.#running?.service.abort(own);
    }
  }

  /** Changes the configuration for all pages, which get a message about it. */
  async update(changes: EngineChanges): Promise<ResolvedEngineConfig> {
    const running = this.#running;
    const config = await this.service.update(changes);
    if (running !== null) running.config = config;
    const before = this.#config;
    this.#config = { ...before, ...changes } as EngineConfig; // null is the default
    this.#onChanged(before, this.#config);
    return config;
  }

  requestReports(page: SharedPage, reports: OptionalReports, isRequested: boolean): void {
    const readers = this.#readers[reports];
    if (isRequested) readers.add(page);
    else readers.delete(page);
    this.#running?.service.requestReports(reports, readers.size > 0);
  }

  /** Ends a page's requests. With the last page the engine ends, too. Idempotent. */
  leave(page: SharedPage): void {
    if (!this.#pages.delete(page)) return;
    for (const reports of OPTIONAL_REPORTS) this.requestReports(page, reports, false);
    this.abort(page);
    if (this.#pages.size > 0) return;
    this.#running?.service.dispose();
    this.#end();
  }

  #end(): void {
    this.#running = null;
    for (const readers of Object.values(this.#readers)) readers.clear();
    this.#raised.clear();
  }

  #start(location: ModelLocation, config: EngineConfig): Running {
    const service = this.#open();
    const onProgress = (progress: LoadProgress) => {
      for (const page of this.#pages) page.onProgress(progress);
    };
    const loaded = service.load(location, config, (message) => this.#notify(message), onProgress);
    return { service, loaded, config: null };
  }

  #notify({ events, ...reports }: EngineMessage): void {
    const own = new Map([...this.#pages].map((page) => [page, [] as EngineMessage["events"][number][]]));
    for (const event of events) {
      const owner = this.#owners.get(event.ticket);
      if (owner === undefined) continue; // its page has left
      if (isFinal(event)) this.#owners.delete(event.ticket);
      own.get(owner.page)?.push({ ...event, ticket: owner.ticket });
    }
    for (const alert of reports.alerts) {
      if (alert.status === "raised") this.#raised.set(alert.name, alert);
      else this.#raised.delete(alert.name);
    }
    for (const [page, pageEvents] of own) {
      const unread = OPTIONAL_REPORTS.filter((name) => !this.#readers[name].has(page)).map((name) => [name, []]);
      page.onMessage({ events: pageEvents, ...reports, ...Object.fromEntries(unread) });
    }
    if (reports.fatal === null) return;
    this.#owners.clear();
    this.#pages.clear();
    this.#end();
  }
}

const notLoaded = () => new ChorusError("internal_error", "No model has been loaded.");

/** A page's side of an engine that it shares. */
class SharedPage implements EngineService {
  readonly #engineFor: (location: ModelLocation, config: EngineConfig) => SharedEngine;
  /** Null until it loads a model. */
  #joined: SharedEngine | null = null;
  onMessage: (message: EngineMessage) => void = () => undefined;
  onProgress: (progress: LoadProgress) => void = () => undefined;

  constructor(engineFor: (location: ModelLocation, config: EngineConfig) => SharedEngine) {
    this.#engineFor = engineFor;
  }

  get #shared(): SharedEngine {
    if (this.#joined === null) throw notLoaded();
    return this.#joined;
  }

  load: EngineService["load"] = (location, config, onMessage, onProgress) => {
    this.onMessage = onMessage;
    this.onProgress = onProgress;
    this.#joined = this.#engineFor(location, config);
    return this.#joined.load(this, location, config);
  };

  submit: EngineService["submit"] = (ticket, request) => this.#shared.submit(this, ticket, request);
  abort: EngineService["abort"] = (ticket) => this.#shared.abort(this, ticket);
  renderChat: EngineService["renderChat"] = (body) => this.#shared.service.renderChat(body);
  tokenize: EngineService["tokenize"] = (body) => this.#shared.service.tokenize(body);
  detokenize: EngineService["detokenize"] = (body) => this.#shared.service.detokenize(body);
  stats: EngineService["stats"] = () => this.#shared.service.stats();
  metrics: EngineService["metrics"] = () => this.#shared.service.metrics();
  kvCacheMap: EngineService["kvCacheMap"] = () => this.#shared.service.kvCacheMap();
  kvBlockTokens: EngineService["kvBlockTokens"] = (block) => this.#shared.service.kvBlockTokens(block);
  update: EngineService["update"] = (changes) => this.#shared.update(changes);
  requestReports: EngineService["requestReports"] = (...args) => this.#shared.requestReports(this, ...args);

  /** Leaves; the engine goes on for the others. */
  dispose(): void {
    this.#joined?.leave(this);
  }
}
