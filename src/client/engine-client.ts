import { randomId } from "../protocol/random-id.ts";
import { refuseUnbounded } from "../protocol/bounded-data.ts";
import type { EngineConfig, ResolvedEngineConfig } from "../protocol/config.ts";
import type {
  Chat,
  ChatCompletions,
  ChorusEngine,
  Completions,
  Responses,
  CreateEngineOptions,
  EngineEvents,
} from "../protocol/engine.ts";
import { ChorusError, fromErrorData, toChorusError, toErrorData, type ChorusErrorData } from "../protocol/errors.ts";
import type { EngineChanges, LoadedSizes } from "../protocol/live-config.ts";
import { withAbsoluteDraft, type ModelLocation } from "../protocol/model-source.ts";
import type { CreateOptions } from "../protocol/openai.ts";
import { isDataCloneError, notPlainData } from "../protocol/plain-data.ts";
import type { Alert, ModelCard } from "../protocol/reports.ts";
import {
  isFinal,
  type EngineMessage,
  type GenerationRequest,
  type LoadedEngine,
  type Response,
  type OptionalReports,
} from "../protocol/service.ts";
import { untilAborted } from "../protocol/until-aborted.ts";
import { Heartbeat } from "./heartbeat.ts";
import { pageUrl } from "./page-url.ts";
import { ChunkStream, RequestEvents, responseOf } from "./request-events.ts";
import type { AsyncService, Transport } from "./transport.ts";

/** A worker that is stuck for this long is ended without having freed anything itself. */
const DISPOSE_LIMIT_MS = 5000;

/** All events, and the reports that the other side posts only while an event has listeners here. */
const REPORTS_BY_EVENT: Record<keyof EngineEvents, OptionalReports | null> = {
  step: "steps",
  request: null,
  words: "words",
  kernels: "kernels",
  alert: null,
  device: null,
  config: null,
  fatal: null,
};

type Listeners = { [Name in keyof EngineEvents]: Set<(payload: EngineEvents[Name]) => void> };

/** A ChorusEngine over a transport. One table holds all open requests; they fail when the other side is gone. */
export class EngineClient implements ChorusEngine {
  readonly chat: Chat;
  readonly completions: Completions;
  readonly responses: Responses;

  readonly #transport: Transport;
  readonly #open = new Map<number, RequestEvents>();
  readonly #listeners = Object.fromEntries(Object.keys(REPORTS_BY_EVENT).map((name) => [name, new Set()])) as Listeners;
  #loaded: LoadedEngine | null = null;
  readonly #raised = new Map<string, Alert>();
  readonly #calls = new Set<(error: ChorusError) => void>();
  /** Null for an engine in this thread: it can't be stuck while this code runs. */
  readonly #heartbeat: Heartbeat | null;
  #nextTicket = 1;
  /** Why the engine can't be used any more; null while it can. */
  #ended: ChorusError | null = null;

  private constructor(transport: Transport) {
    this.#transport = transport;
    // The protocol declares the overloads of both endpoints; the answer matches the request.
    const endpoint = (name: GenerationRequest["endpoint"]) => ({
      create: (body: GenerationRequest["body"], options?: CreateOptions) =>
        this.#create({ endpoint: name, body } as GenerationRequest, options),
    });
    this.chat = {
      completions: endpoint("chat.completions") as ChatCompletions,
      render: (body) => this.#ask(body, (service) => service.renderChat(body)),
    };
    this.completions = endpoint("completions") as Completions;
    this.responses = { create: (body: object, options?: CreateOptions) => this.#respond(body, options) } as Responses;
    const { ping } = transport;
    this.#heartbeat = ping
      ? new Heartbeat({
          ping,
          isAwaited: () => this.#calls.size + this.#open.size > 0,
          onSilence: () => this.#endSilent(),
        })
      : null;
    void transport.died.then((error) => this.#end(error, { fatal: true }));
  }

  /** Loads the model on the other side, and closes the transport if that fails. */
  static async connect(
    transport: Transport,
    location: ModelLocation,
    config: EngineConfig,
    { onProgress = () => undefined, signal }: Pick<CreateEngineOptions, "onProgress" | "signal"> = {},
  ): Promise<EngineClient> {
    const client = new EngineClient(transport);
    const onMessage = (message: EngineMessage) => client.#receive(message);
    const loading = client.#call((service) => {
      refuseUnbounded("The config", config);
      return service.load(location, config, onMessage, onProgress);
    });
    try {
      client.#loaded = await untilAborted(loading, signal);
      return client;
    } catch (error) {
      // Closing ends a worker. An engine in this thread can't be stopped while it loads, and is disposed of afterwards.
      const dispose = () => transport.service.dispose();
      if (signal?.aborted) void loading.then(dispose, dispose).catch(() => undefined);
      client.#heartbeat?.stop();
      transport.close();
      throw isDataCloneError(error) ? notPlainData("The config", config, error) : error;
    }
  }

  get model(): ModelCard {
    return this.#requireLoaded().model;
  }

  get config(): ResolvedEngineConfig {
    return this.#requireLoaded().config;
  }

  get sizes(): LoadedSizes {
    return this.#requireLoaded().sizes;
  }

  on<Name extends keyof EngineEvents>(event: Name, listener: (payload: EngineEvents[Name]) => void): () => void {
    if (!Object.hasOwn(this.#listeners, event)) {
      const names = Object.keys(this.#listeners).join(", ");
      throw new ChorusError(
        "invalid_value",
        `There is no event ${JSON.stringify(event)}; there are ${names}.`,
        "event",
      );
    }
    if (typeof listener !== "function") {
      throw new ChorusError("invalid_type", `The listener of "${event}" must be a function.`, "listener");
    }
    const listeners = this.#listeners[event];
    listeners.add(listener);
    const reports = REPORTS_BY_EVENT[event];
    const request = (isRequested: boolean) => {
      if (reports !== null && !this.#ended) void this.#transport.service.requestReports(reports, isRequested);
    };
    if (listeners.size === 1) request(true);
    if (event === "alert") this.#notifyRaised(listener as (alert: Alert) => void);
    return () => {
      if (listeners.delete(listener) && listeners.size === 0) request(false);
    };
  }

  readonly tokenize: ChorusEngine["tokenize"] = (body) => this.#ask(body, (service) => service.tokenize(body));
  readonly detokenize: ChorusEngine["detokenize"] = (body) => this.#ask(body, (service) => service.detokenize(body));
  readonly stats: ChorusEngine["stats"] = () => this.#call((service) => service.stats());
  readonly metrics: ChorusEngine["metrics"] = () => this.#call((service) => service.metrics());
  readonly kvCacheMap: ChorusEngine["kvCacheMap"] = () => this.#call((service) => service.kvCacheMap());
  readonly kvBlockTokens: ChorusEngine["kvBlockTokens"] = (block) =>
    this.#call((service) => service.kvBlockTokens(block));

  /** Can be passed on without its engine, as fetch can. */
  readonly fetch = async (input: string | URL | Request, init?: RequestInit): Promise<globalThis.Response> => {
    const { createHandler } = await import("../http/handler.ts");
    return createHandler(this)(new Request(input, init));
  };

  async update(changes: EngineChanges): Promise<ResolvedEngineConfig> {
    if (typeof changes !== "object" || changes === null) {
      throw new ChorusError("invalid_type", "update takes an object, such as { maxNumSeqs: 4 }.");
    }
    const absolute = withAbsoluteDraft(changes, pageUrl());
    const config = await this.#ask(absolute, (service) => service.update(absolute), "The changes");
    this.#loaded = { ...this.#requireLoaded(), config };
    return config;
  }

  async dispose(): Promise<void> {
    if (this.#ended?.code === "engine_disposed") return;
    const isAlive = this.#ended === null;
    const disposed = new ChorusError("engine_disposed", "The engine was disposed. Create another one.");
    this.#end(disposed, { fatal: false });
    this.#ended = disposed; // also for an engine that died before
    if (isAlive) {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const limit = new Promise((resolve) => (timer = setTimeout(resolve, DISPOSE_LIMIT_MS)));
      await Promise.race([this.#transport.service.dispose(), this.#transport.died, limit]);
      clearTimeout(timer);
    }
    this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  /**
   * Returns the answer to a request that the model does not compute.
   * @param what name of the request, for the error if it can't be posted
   */
  async #ask<T>(body: object, ask: (service: AsyncService) => T | Promise<T>, what = "A request"): Promise<T> {
    try {
      refuseUnbounded(what, body);
      return await this.#call(ask);
    } catch (error) {
      throw isDataCloneError(error) ? notPlainData(what, body, error) : error;
    }
  }

  async #respond(body: object, options?: CreateOptions) {
    const signal = signalOf(options);
    refuseUnbounded("A request", body);
    const { createResponse } = await import("../http/responses/create-response.ts");
    return createResponse(this, body, { id: randomId(), signal });
  }

  async #create(request: GenerationRequest, options?: CreateOptions): Promise<Response | ChunkStream> {
    const signal = signalOf(options);
    signal?.throwIfAborted();
    refuseUnbounded("A request", request.body);
    const ticket = this.#nextTicket++;
    const events = new RequestEvents();
    this.#open.set(ticket, events);

    const abort = () => {
      events.fail(signal?.reason);
      leave();
    };
    const leave = () => {
      signal?.removeEventListener("abort", abort);
      // It is still in the table if the reader left before the end.
      if (this.#open.delete(ticket) && !this.#ended) void this.#transport.service.abort(ticket);
    };
    signal?.addEventListener("abort", abort, { once: true });
    try {
      await this.#call((service) => service.submit(ticket, request));
      // A refused request rejects here, streamed or not, before anything can be iterated.
      const first = await events.peek();
      if (request.body?.stream === true && first.type !== "error") return new ChunkStream(events, leave);
      return await responseOf(events).finally(leave);
    } catch (error) {
      leave();
      throw isDataCloneError(error) ? notPlainData("A request", request.body, error) : error;
    }
  }

  /**
   * Resolves with the other side's answer. Rejects if the other side ends before it answers: Comlink's own promise would stay
   * pending for ever.
   */
  async #call<T>(ask: (service: AsyncService) => T | Promise<T>): Promise<T> {
    if (this.#ended) throw this.#ended;
    this.#heartbeat?.start();
    const answer = (async () => ask(this.#transport.service))();
    return new Promise((resolve, reject) => {
      this.#calls.add(reject);
      void answer
        .then(resolve, (error: unknown) => reject(isDataCloneError(error) ? error : toChorusError(error)))
        .finally(() => this.#calls.delete(reject));
    });
  }

  #receive({ events, steps, requests, words, kernels, alerts, devices, configs, fatal, lost }: EngineMessage): void {
    if (lost) this.#failOpen(lost);
    for (const event of events) {
      const open = this.#open.get(event.ticket);
      if (!open) continue; // its reader left
      if (isFinal(event)) this.#open.delete(event.ticket);
      open.push(event);
    }
    // A step is reported before the requests, words and alerts that it caused.
    for (const report of steps) this.#emit("step", report);
    for (const report of requests) this.#emit("request", report);
    for (const report of words) this.#emit("words", report);
    for (const report of kernels) this.#emit("kernels", report);
    for (const alert of alerts) {
      if (alert.status === "raised") this.#raised.set(alert.name, alert);
      else this.#raised.delete(alert.name);
      this.#emit("alert", alert);
    }
    for (const report of devices) {
      if (report.status === "changed" && this.#loaded) {
        this.#loaded = { ...this.#loaded, model: { ...this.#loaded.model, notice: report.loss.message } };
      }
      this.#emit("device", report);
    }
    for (const config of configs) {
      if (this.#loaded) this.#loaded = { ...this.#loaded, config };
      this.#emit("config", config);
    }
    if (fatal) this.#end(fromErrorData(fatal), { fatal: true });
  }

  /** Ends all open requests: parts of their answers may be missing. */
  #failOpen(lost: ChorusErrorData): void {
    for (const [ticket, events] of this.#open) {
      events.fail(fromErrorData(lost));
      void this.#transport.service.abort(ticket);
    }
    this.#open.clear();
  }

  /** Notifies a new listener of raised alerts: a page that joins an engine gets them before it has listeners. */
  #notifyRaised(listener: (alert: Alert) => void): void {
    for (const alert of this.#raised.values()) {
      queueMicrotask(() => {
        if (this.#listeners.alert.has(listener) && this.#raised.get(alert.name) === alert) listener(alert);
      });
    }
  }

  #requireLoaded(): LoadedEngine {
    if (!this.#loaded) throw new ChorusError("internal_error", "The engine has no model yet.");
    return this.#loaded;
  }

  #endSilent(): void {
    const message = "The engine's worker has stopped answering, and was ended. Create the engine again to continue.";
    this.#end(new ChorusError("worker_died", message), { fatal: true });
    this.#transport.close();
  }

  #end(error: ChorusError, { fatal }: { fatal: boolean }): void {
    if (this.#ended) return;
    this.#ended = error;
    for (const events of this.#open.values()) events.fail(error);
    this.#open.clear();
    for (const reject of this.#calls) reject(error);
    this.#calls.clear();
    if (fatal) this.#emit("fatal", toErrorData(error));
  }

  #emit<Name extends keyof EngineEvents>(event: Name, payload: EngineEvents[Name]): void {
    for (const listener of this.#listeners[event]) {
      try {
        listener(payload);
      } catch (error) {
        // Report a listener's error to the page, but go on with the other listeners. (Node has no reportError.)
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}

/** Returns the caller's { signal }, checked. */
export function signalOf(options: unknown): AbortSignal | undefined {
  if (options === undefined || options === null) return undefined;
  if (typeof options !== "object") {
    throw new ChorusError("invalid_type", "The options must be an object, such as { signal }.", "options");
  }
  const signal = "signal" in options ? options.signal : undefined;
  if (signal === undefined || signal === null) return undefined;
  // Not instanceof, which fails for signals of another frame.
  if (typeof signal === "object" && "throwIfAborted" in signal) return signal as AbortSignal;
  throw new ChorusError("invalid_type", "signal must be an AbortSignal.", "signal");
}
