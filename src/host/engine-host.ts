import { numChoices } from "../api/answer.ts";
import { changeEngineConfig, loadedSizes, type ConfigInUse } from "../api/engine-config.ts";
import type { ParsedRequest } from "../api/parsed-request.ts";
import { detokenize } from "../api/detokenize.ts";
import { answeredReports, askedReports } from "../api/words-reports.ts";
import { Engine } from "../engine/engine.ts";
import type { Runner, Runners } from "../engine/runner.ts";
import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ThoughtMatcher, thoughtTokens, type ThoughtTokens } from "../engine/sampling/thought-matcher.ts";
import { isInThought } from "../engine/text/reasoning-splitter.ts";
import type { SequenceOutput } from "../engine/text/output.ts";
import type { Grammars, GrammarVocabulary } from "../grammar/grammar-compiler.ts";
import type { GrammarSource } from "../grammar/ebnf-of.ts";
import { tokenOfBytes } from "../files/byte-alphabet.ts";
import type { EngineConfig, ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError, toErrorData } from "../protocol/errors.ts";
import type { EngineChanges, LoadedSizes } from "../protocol/live-config.ts";
import type { ModelLocation } from "../protocol/model-source.ts";
import type { RenderChatRequest, RenderedChat } from "../protocol/rendered-chat.ts";
import type {
  DeviceReport,
  EngineStats,
  KvBlockTokens,
  KvCacheMap,
  LoadProgress,
  RequestReport,
  StepReport,
} from "../protocol/reports.ts";
import {
  EMPTY_MESSAGE,
  type EngineMessage,
  type EngineService,
  type GenerationRequest,
  type LoadedEngine,
  type RequestEvent,
  type Result,
  type OptionalReports,
} from "../protocol/service.ts";
import type { DetokenizeRequest, DetokenizeResponse, TokenizeRequest, TokenizeResponse } from "../protocol/tokenize.ts";
import type { LoadedModel } from "./loading/load-model.ts";
import { causeOf } from "./loading/backend-failure.ts";
import { ModelLoader } from "./loading/model-loader.ts";
import { OpenRequest } from "./open-request.ts";
import { OpenRequests } from "./open-requests.ts";
import type { Platform } from "./platforms/platform.ts";
import { resultLater, resultOf } from "./results.ts";
import { seedSequence, withSeeds } from "./seeds.ts";
import type { TextContext } from "./text/text-calls.ts";
import { Telemetry } from "./telemetry.ts";
import { throttleProgress } from "./loading/throttle-progress.ts";
import { WatchedRunner } from "./watched-runner.ts";

/**
 * What the first step can do without is compiled after it, since a software adapter compiles on the cores that compute the
 * step; or after this long without any.
 */
const MAX_IDLE_MS = 500;

/** A loaded model and its running engine. */
interface Session {
  readonly model: LoadedModel;
  config: ConfigInUse;
  readonly sizes: LoadedSizes;
  readonly engine: Engine;
  readonly telemetry: Telemetry;
  readonly context: TextContext;
  /** Seed of a prompt whose request gives none: an integer in 0 .. 2^53 - 1. */
  readonly nextSeed: () => number;
  /** Loads the compiler on first use. */
  readonly grammars: () => Promise<Grammars>;
  readonly thoughts: () => ThoughtTokens;
  readonly post: (message: Partial<EngineMessage>) => void;
  readonly now: () => number;
}

/** The host's side of `EngineService`: loads a model, checks requests, runs the engine and posts its events. */
export class EngineHost implements EngineService {
  readonly #platform: Platform;
  readonly #requests = new OpenRequests();
  /** Requests whose grammar is being compiled. */
  readonly #compiling = new Set<OpenRequest>();
  /** Null until a load begins. */
  #loader: ModelLoader | null = null;
  #session: Session | null = null;
  /** What somebody listens to. */
  readonly #reported: Record<OptionalReports, boolean> = { steps: false, words: false, kernels: false };

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  async load(
    location: ModelLocation,
    config: EngineConfig,
    onMessage: (message: EngineMessage) => void,
    onProgress: (progress: LoadProgress) => void,
  ): Promise<Result<LoadedEngine>> {
    try {
      const loader = (this.#loader = new ModelLoader(location, config, this.#platform));
      const model = await loader.load(throttleProgress(onProgress, () => this.#platform.now()));
      const session = (this.#session = this.#start(model, config, loader, onMessage));
      return { ok: true, value: { model: model.card, config: session.config.resolved, sizes: session.sizes } };
    } catch (error) {
      return { ok: false, error: toErrorData(error) };
    }
  }

  submit(ticket: number, request: GenerationRequest): void {
    const session = this.#requireSession();
    try {
      this.#requests.ask(ticket, request);
      void this.#tokenize(session, ticket, request);
    } catch (error) {
      refuse(session, ticket, error);
    }
  }

  /** Opens the request once its text is tokens, unless it was aborted meanwhile. */
  async #tokenize(session: Session, ticket: number, request: GenerationRequest): Promise<void> {
    const { model, context, nextSeed } = session;
    try {
      const parsed = await model.texts.parse(request, context);
      if (this.#requests.endRequested(ticket)) this.#open(session, ticket, request, withSeeds(parsed, nextSeed));
    } catch (error) {
      if (this.#requests.endRequested(ticket)) refuse(session, ticket, error);
    }
  }

  #open(session: Session, ticket: number, request: GenerationRequest, parsed: ParsedRequest): void {
    const { model, engine } = session;
    try {
      const open = new OpenRequest(ticket, parsed, model.card.name, model.tokenizer);
      const notify = () => this.#reportAsked(session, open, request);
      this.#requests.checkIds(open);
      const { structure } = open.parsed;
      if (structure !== null) return void this.#addStructured(session, open, structure, notify);
      engine.add(...open.engineRequests());
      notify();
      this.#requests.add(open);
    } catch (error) {
      refuse(session, ticket, error);
    }
  }

  abort(ticket: number): void {
    this.#requests.endRequested(ticket);
    const open = this.#requests.withTicket(ticket);
    if (open === undefined) return;
    for (const id of open.engineRequestIds) this.#session?.engine.abort(id);
    if (this.#compiling.has(open)) this.#requests.delete(open); // the engine does not know it yet
  }

  renderChat(body: RenderChatRequest): Promise<Result<RenderedChat>> {
    return resultLater(() => this.#requireSession().model.texts.render(body));
  }

  tokenize(body: TokenizeRequest): Promise<Result<TokenizeResponse>> {
    return resultLater(() => {
      const { model, context } = this.#requireSession();
      return model.texts.tokenize(body, context);
    });
  }

  detokenize(body: DetokenizeRequest): Result<DetokenizeResponse> {
    return resultOf(() => {
      const { context, model } = this.#requireSession();
      return detokenize(body, context, model.tokenizer);
    });
  }

  stats(): EngineStats {
    return this.#requireSession().engine.stats();
  }

  metrics(): string {
    return this.#requireSession().telemetry.prometheusText();
  }

  kvCacheMap(): KvCacheMap {
    return this.#requireSession().engine.kvCacheMap();
  }

  kvBlockTokens(block: number): KvBlockTokens {
    return this.#requireSession().engine.kvBlockTokens(block);
  }

  update(changes: EngineChanges): Result<ResolvedEngineConfig> {
    return resultOf(() => {
      const session = this.#requireSession();
      const { model, engine, telemetry, post, now, sizes } = session;
      session.config = changeEngineConfig(session.config, changes, sizes);
      const { resolved } = session.config;
      engine.update({ ...resolved, slidingWindow: model.slidingWindow });
      post({ configs: [resolved], alerts: telemetry.update(resolved, now()) });
      return resolved;
    });
  }

  requestReports(reports: OptionalReports, isRequested: boolean): void {
    this.#reported[reports] = isRequested;
    if (reports === "kernels") this.#timeKernels(this.#loader?.loaded?.runner, isRequested);
  }

  /** Also ends a load. Idempotent. */
  dispose(): void {
    if (this.#session === null) this.#loader?.close();
    else this.#session.engine.fail(new ChorusError("engine_disposed", "The engine was disposed of."));
  }

  #start(
    model: LoadedModel,
    given: EngineConfig,
    loader: ModelLoader,
    onMessage: (message: EngineMessage) => void,
  ): Session {
    const { tokenizer, defaults, engineConfig, slidingWindow } = model;
    const now = () => this.#platform.now();
    const post: Session["post"] = (message) => onMessage({ ...EMPTY_MESSAGE, ...message });
    const reportDevice = (device: DeviceReport) => {
      telemetry.observeDevice(device);
      post({ devices: [device] });
    };
    let onFirstStep = (): void => {};
    /** Returns the runners, and tells the engine when their device fails. */
    const watched = ({ backend, runner, draft }: LoadedModel): Runners => {
      void backend.failure.then((error) => {
        if (loader.loaded?.backend !== backend) return;
        if (loader.outlives(error)) engine.lose(error);
        else engine.fail(error);
      });
      const firstStep = new Promise<void>((resolve) => (onFirstStep = resolve));
      const when = Promise.race([firstStep, delay(MAX_IDLE_MS)]);
      for (const one of [runner, draft?.runner]) {
        void one?.complete?.(when).then((unused) => telemetry.observeUnusedKernels(unused));
      }
      if (this.#reported.kernels) this.#timeKernels(runner, true);
      const watch = (one: Runner) => new WatchedRunner(one, now, (error) => causeOf(backend, error));
      return { runner: watch(runner), draft: draft && { ...draft, runner: watch(draft.runner) } };
    };
    let opened: Grammars | null = null;
    const engine: Engine = new Engine({
      config: { ...engineConfig, slidingWindow },
      ...watched(model),
      replaceRunners: async (error) => {
        const loss = toErrorData(error);
        reportDevice({ status: "lost", loss, adapter: loader.loaded?.card.adapter ?? model.card.adapter });
        const replaced = await loader.reload(error);
        reportDevice({ status: "replaced", loss, adapter: replaced.card.adapter });
        telemetry.observeKernels(replaced.runner);
        return watched(replaced);
      },
      eosTokenIds: tokenizer.eosTokenIds,
      tokenBytes: (id) => tokenizer.tokenBytes(id),
      now,
      delay,
      onOutputs: (outputs, report, requests, times) => {
        if (report !== null) onFirstStep();
        const alerts = telemetry.observe(outputs, report, requests, now(), times !== null);
        this.#observe(report, requests);
        const events = this.#eventsOf(outputs);
        const steps = report !== null && this.#reported.steps ? [report] : [];
        const words = this.#reported.words ? answeredReports(outputs, report) : [];
        const kernels = times !== null && times.kernels.length > 0 && this.#reported.kernels ? [times] : [];
        const reported = [events, steps, requests, words, kernels, alerts];
        if (reported.some(({ length }) => length > 0)) post({ events, steps, requests, words, kernels, alerts });
      },
      onFatal: (error) => {
        const data = toErrorData(error);
        telemetry.observeFatal(data);
        post({
          events: this.#requests.tickets.map((ticket) => ({ type: "error", ticket, error: data })),
          fatal: data,
        });
        this.#requests.clear();
        opened?.dispose();
        loader.close();
      },
    });
    const telemetry = new Telemetry(engine, model.card, engineConfig);
    telemetry.observeKernels(model.runner);
    void engine.run();
    const context: TextContext = {
      modelName: model.card.name,
      vocabSize: model.card.vocabSize,
      defaults,
      eosTokenIds: defaults.eosTokenIds,
      limits: engineConfig,
    };
    const nextSeed = seedSequence(engineConfig.seed);
    const grammars = async () => {
      const { openGrammars } = await import("../grammar/open-grammars.ts");
      return (opened ??= openGrammars(() => vocabularyOf(model), this.#platform.openGrammarThread));
    };
    let known: ThoughtTokens | null = null;
    const thoughts = () => (known ??= thoughtTokens(model.card.vocabSize, (id) => model.tokenizer.tokenBytes(id)));
    const config = { given, resolved: engineConfig };
    const sizes = loadedSizes(config, model.defaultBatchedTokens);
    return { model, config, sizes, engine, telemetry, context, nextSeed, grammars, thoughts, post, now };
  }

  #timeKernels(runner: LoadedModel["runner"] | undefined, isRequested: boolean): void {
    void runner?.timeKernels?.(isRequested).then((canTime) => canTime || this.#session?.telemetry.observeUntimed());
  }

  /** Adds a request once its grammar is compiled, unless it was aborted meanwhile. Other requests don't wait for it. */
  async #addStructured(
    session: Session,
    open: OpenRequest,
    structure: GrammarSource,
    notify: () => void,
  ): Promise<void> {
    const { engine, grammars, thoughts, model } = session;
    const { ticket, parsed } = open;
    this.#requests.add(open);
    this.#compiling.add(open);
    let matchers: readonly GrammarMatcher[] = [];
    try {
      const stopTokenIds = parsed.prompts.flatMap(({ params }) => params.stopTokenIds);
      const endTokenIds = [...new Set([...model.tokenizer.eosTokenIds, ...stopTokenIds])];
      matchers = await (await grammars()).matchers(structure, endTokenIds, numChoices(parsed));
      const { reasoning } = parsed;
      if (isInThought(reasoning)) matchers = matchers.map((one) => new ThoughtMatcher(one, thoughts(), reasoning));
      if (this.#requests.has(open)) {
        engine.add(...open.engineRequests(matchers));
        notify();
      } else dispose(matchers);
    } catch (error) {
      dispose(matchers);
      if (!this.#requests.has(open)) return;
      this.#requests.delete(open);
      refuse(session, ticket, error);
    } finally {
      this.#compiling.delete(open);
    }
  }

  /** Tells open requests what the engine reports of them. */
  #observe(report: StepReport | null, requests: readonly RequestReport[]): void {
    if (report !== null) {
      for (const entry of report.entries) this.#requests.ofEngineRequest(entry.requestId)?.observeStep(entry, report);
    }
    for (const request of requests) this.#requests.ofEngineRequest(request.requestId)?.observeRequest(request);
  }

  #reportAsked({ model, post }: Session, { parsed, engineRequestIds }: OpenRequest, { body }: GenerationRequest): void {
    if (this.#reported.words) post({ words: askedReports(parsed, body, engineRequestIds, model.tokenizer) });
  }

  #eventsOf(outputs: readonly SequenceOutput[]): RequestEvent[] {
    const all: RequestEvent[] = [];
    for (const output of outputs) {
      const open = this.#requests.ofEngineRequest(output.requestId);
      if (!open) continue;
      const events = open.take(output);
      all.push(...events);
      if (open.isFinished) this.#requests.delete(open);
      // An error ends the whole request; the engine knows only one of its prompts by this name.
      if (events.at(-1)?.type === "error") for (const id of open.engineRequestIds) this.#session?.engine.abort(id);
    }
    return all;
  }

  #requireSession(): Session {
    if (!this.#session) throw new ChorusError("internal_error", "No model has been loaded.");
    return this.#session;
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function refuse({ telemetry, post, now }: Session, ticket: number, error: unknown): void {
  const data = toErrorData(error);
  const alerts = telemetry.observeRefusal(data, now());
  post({ events: [{ type: "error", ticket, error: data }], alerts });
}

function dispose(matchers: readonly GrammarMatcher[]): void {
  for (const matcher of matchers) matcher.dispose();
}

function vocabularyOf({ card, tokenizer }: LoadedModel): GrammarVocabulary {
  const tokens = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenOfBytes(tokenizer.tokenBytes(id)));
  return { vocabSize: card.vocabSize, tokens };
}
