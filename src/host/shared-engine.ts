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
  type Result,
  type OptionalReports,
} from "../protocol/service.ts";

/** The engine that runs for all its pages. */
interface Running {
  readonly service: EngineService;
  readonly loaded: Promise<Result<LoadedEngine>>;
  /** Null: still as it was loaded. */
  config: ResolvedEngineConfig | null;
}

/** Which page asked, under which ticket of its own. */
interface Owner {
  readonly page: SharedPage;
  readonly ticket: number;
}

/** The engines that pages share: one for each model and configuration, as it was asked for or changed since. */
export class SharedEngines {
  readonly #open: () => EngineService;
  readonly #engines = new Map<string, SharedEngine>();

  /** @param open makes an engine */
  constructor(open: () => EngineService) {
    this.#open = open;
  }

  /** Returns the service of one more page. */
  join(): EngineService {
    return new SharedPage((location, config) => this.#engineFor(location, config));
  }

  #engineFor(location: ModelLocation, config: EngineConfig): SharedEngine {
    // Files of one page can't be compared with another's.
    if (location.type === "files") return new SharedEngine(this.#open, () => undefined);
    const key = keyOf(location, config);
    const known = this.#engines.get(key);
    if (known !== undefined) return known;
    const engine: SharedEngine = new SharedEngine(this.#open, (before, after) => {
      const [from, to] = [keyOf(location, before), keyOf(location, after)];
      if (this.#engines.get(from) === engine) this.#engines.delete(from);
      // Pages may have another engine with just this configuration: whoever comes next joins that one.
      if (!this.#engines.get(to)?.isRunning) this.#engines.set(to, engine);
    });
    this.#engines.set(key, engine);
    return engine;
  }
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

  async load(page: SharedPage, location: ModelLocation, config: EngineConfig): Promise<Result<LoadedEngine>> {
    const isFirst = this.#running === null;
    if (isFirst) this.#config = config;
    const running = (this.#running ??= this.#start(location, config));
    this.#pages.add(page);
    const result = await running.loaded;
    if (!result.ok) {
      this.#pages.delete(page);
      if (this.#running === running) this.#running = null;
      return result;
    }
    if (this.#raised.size > 0) page.onMessage({ ...EMPTY_MESSAGE, alerts: [...this.#raised.values()] });
    // Who joins finds what the others have chosen, but for what it asks for itself.
    const asked = Object.entries(config).filter(
      ([name, value]) => (name === "batchingMode" || name === "alerts") && value,
    );
    if (!isFirst && asked.length > 0) {
      const changed = await this.update(Object.fromEntries(asked) as EngineChanges);
      if (!changed.ok) {
        this.leave(page);
        return changed;
      }
    }
    return { ok: true, value: { ...result.value, config: running.config ?? result.value.config } };
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
  async update(changes: EngineChanges): Promise<Result<ResolvedEngineConfig>> {
    const running = this.#running;
    const result = await this.service.update(changes);
    if (!result.ok || running === null) return result;
    running.config = result.value;
    const before = this.#config;
    this.#config = { ...before, ...changes } as EngineConfig; // null is the default
    this.#onChanged(before, this.#config);
    return result;
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
      const steps = this.#readers.steps.has(page) ? reports.steps : [];
      const words = this.#readers.words.has(page) ? reports.words : [];
      const kernels = this.#readers.kernels.has(page) ? reports.kernels : [];
      page.onMessage({ events: pageEvents, ...reports, steps, words, kernels });
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
