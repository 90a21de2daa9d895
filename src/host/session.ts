import { numChoices } from "../api/answer.ts";
import { detokenize } from "../api/detokenize.ts";
import { changeEngineConfig, loadedSizes, type ConfigInUse } from "../api/engine-config.ts";
import type { ParsedRequest } from "../api/parsed-request.ts";
import { answeredReports, askedReports } from "../api/words-reports.ts";
import type { LoadedRunner } from "../backends/backend.ts";
import { causeOf } from "../backends/backend-failure.ts";
import { Engine } from "../engine/engine.ts";
import type { EngineOptions } from "../engine/engine-options.ts";
import type { Runner, Runners } from "../engine/runner.ts";
import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { ThoughtMatcher, thoughtTokens, type ThoughtTokens } from "../engine/text/thought-matcher.ts";
import type { SequenceOutput } from "../engine/text/output.ts";
import { isInThought } from "../engine/text/reasoning-splitter.ts";
import type { GrammarSource } from "../grammar/grammar-source.ts";
import type { GrammarVocabulary } from "../grammar/grammar-calls.ts";
import type { Grammars } from "../grammar/grammars.ts";
import type { EngineConfig, ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError, toErrorData } from "../protocol/errors.ts";
import type { EngineChanges, LoadedSizes } from "../protocol/live-config.ts";
import type { RenderChatRequest } from "../protocol/rendered-chat.ts";
import type { DeviceReport, RequestReport, StepReport } from "../protocol/reports.ts";
import {
  EMPTY_MESSAGE,
  type EngineMessage,
  type GenerationRequest,
  type LoadedEngine,
  type OptionalReports,
  type RequestEvent,
} from "../protocol/service.ts";
import type { DetokenizeRequest, TokenizeRequest } from "../protocol/tokenize.ts";
import type { LoadedModel } from "./loading/load-model.ts";
import type { ModelLoader } from "./loading/model-loader.ts";
import { OpenRequest } from "./open-request.ts";
import { OpenRequests } from "./open-requests.ts";
import type { Platform } from "./platforms/platform.ts";
import { seedSequence, withSeeds } from "./seeds.ts";
import { Telemetry } from "./telemetry.ts";
import type { TextContext } from "./text/text-calls.ts";
import { WatchedRunner } from "./watched-runner.ts";

/**
 * Kernels that the first step can do without are compiled after it, since a software adapter compiles on the cores that compute the
 * step; or after this long without any.
 */
const MAX_IDLE_MS = 500;

/** Steps after which kernels are asked once more: some drivers compute rightly only at first. */
const RECHECK_STEPS = 2048;

interface SessionParts {
  readonly model: LoadedModel;
  readonly config: EngineConfig;
  /** Loads the model again where its device is lost. */
  readonly loader: ModelLoader;
  readonly platform: Platform;
  /** The reports that have listeners now. */
  readonly reported: Readonly<Record<OptionalReports, boolean>>;
  readonly onMessage: (message: EngineMessage) => void;
}

/** A loaded model, its running engine and their open requests. */
export class Session {
  readonly #parts: SessionParts;
  #config: ConfigInUse;
  readonly #sizes: LoadedSizes;
  readonly engine: Engine;
  readonly telemetry: Telemetry;
  readonly #context: TextContext;
  /** Seed of a prompt whose request gives none: an integer in 0 .. 2^53 - 1. */
  readonly #nextSeed: () => number;
  readonly #requests = new OpenRequests();
  /** Requests whose grammar is being compiled. */
  readonly #compiling = new Set<OpenRequest>();
  /** Null until a request has a grammar. */
  #grammars: Grammars | null = null;
  #thoughts: ThoughtTokens | null = null;
  #onFirstStep = (): void => {};
  #stepsToRecheck = 0;

  constructor(parts: SessionParts) {
    this.#parts = parts;
    const { model, config, platform } = parts;
    const { card, tokenizer, defaults, engineConfig, layout } = model;
    this.#config = { given: config, resolved: engineConfig };
    this.#sizes = loadedSizes(this.#config, model.defaultBatchedTokens);
    const { vocabSize, name: modelName } = card;
    this.#context = { modelName, vocabSize, defaults, eosTokenIds: defaults.eosTokenIds, limits: engineConfig };
    this.#nextSeed = seedSequence(engineConfig.seed);
    this.engine = new Engine({
      config: { ...engineConfig, ...layout },
      ...this.#watch(model),
      replaceRunners: (error) => this.#replaceRunners(error),
      eosTokenIds: tokenizer.eosTokenIds,
      tokenBytes: (id) => tokenizer.tokenBytes(id),
      now: () => platform.now(),
      delay,
      onOutputs: (...outputs) => this.#report(...outputs),
      onFatal: (error) => this.#end(error),
    });
    this.telemetry = new Telemetry(this.engine, card, engineConfig);
    this.telemetry.observeKernels(model.runner);
    void this.engine.run();
  }

  get loaded(): LoadedEngine {
    return { model: this.#parts.model.card, config: this.#config.resolved, sizes: this.#sizes };
  }

  submit(ticket: number, request: GenerationRequest): void {
    try {
      this.#requests.ask(ticket, request);
      void this.#tokenize(ticket, request);
    } catch (error) {
      this.#refuse(ticket, error);
    }
  }

  abort(ticket: number): void {
    this.#requests.endRequested(ticket);
    const open = this.#requests.withTicket(ticket);
    if (open === undefined) return;
    for (const id of open.engineRequestIds) this.engine.abort(id);
    if (this.#compiling.has(open)) this.#requests.delete(open); // the engine does not know it yet
  }

  readonly renderChat = (body: RenderChatRequest) => this.#parts.model.texts.render(body);
  readonly tokenize = (body: TokenizeRequest) => this.#parts.model.texts.tokenize(body, this.#context);
  readonly detokenize = (body: DetokenizeRequest) => detokenize(body, this.#context, this.#parts.model.tokenizer);

  /** @throws ChorusError that names the field */
  update(changes: EngineChanges): ResolvedEngineConfig {
    const { model, platform } = this.#parts;
    this.#config = changeEngineConfig(this.#config, changes, this.#sizes);
    const { resolved } = this.#config;
    this.engine.update({ ...resolved, ...model.layout });
    this.#post({ configs: [resolved], alerts: this.telemetry.update(resolved, platform.now()) });
    return resolved;
  }

  timeKernels(isRequested: boolean): void {
    const runner = this.#parts.loader.loaded?.runner;
    void runner?.timeKernels?.(isRequested).then((canTime) => canTime || this.telemetry.observeUntimed());
  }

  /** Returns a model's runners, and tells the engine when their device fails. */
  #watch({ backend, runner, draft }: LoadedModel): Runners {
    const { loader, platform, reported } = this.#parts;
    void backend.failure.then((error) => {
      if (loader.loaded?.backend !== backend) return;
      if (loader.outlives(error)) this.engine.lose(error);
      else this.engine.fail(error);
    });
    const firstStep = new Promise<void>((resolve) => (this.#onFirstStep = resolve));
    const when = Promise.race([firstStep, delay(MAX_IDLE_MS)]);
    for (const one of [runner, draft?.runner]) {
      void one?.complete?.(when).then((unused) => this.telemetry.observeUnusedKernels(unused));
    }
    this.#stepsToRecheck = RECHECK_STEPS;
    if (reported.kernels) this.timeKernels(true);
    const now = () => platform.now();
    const watch = (one: Runner) => new WatchedRunner(one, now, (error) => causeOf(backend, error));
    return { runner: watch(runner), draft: draft && { ...draft, runner: watch(draft.runner) } };
  }

  async #replaceRunners(error: ChorusError): Promise<Runners> {
    const { model, loader } = this.#parts;
    const loss = toErrorData(error);
    this.#reportDevice({ status: "lost", loss, adapter: loader.loaded?.card.adapter ?? model.card.adapter });
    const replaced = await loader.reload(error);
    this.#reportDevice({ status: "replaced", loss, adapter: replaced.card.adapter });
    this.telemetry.observeKernels(replaced.runner);
    return this.#watch(replaced);
  }

  async #recheck(): Promise<void> {
    const { runner, draft, card } = this.#parts.loader.loaded ?? this.#parts.model;
    const recheck = (one: LoadedRunner | undefined) => one?.recheck?.() ?? Promise.resolve([]);
    const found = [runner, draft?.runner].map((one) => recheck(one).catch(() => [])); // a lost device says more itself
    const kernels = (await Promise.all(found)).flat();
    if (kernels.length === 0) return;
    this.telemetry.observeUnusedKernels(kernels);
    this.#reportDevice({
      status: "changed",
      loss: toErrorData(changedAnswers(card.adapter, kernels)),
      adapter: card.adapter,
    });
  }

  #reportDevice(device: DeviceReport): void {
    this.telemetry.observeDevice(device);
    this.#post({ devices: [device] });
  }

  #report(...[outputs, report, requests, times]: Parameters<EngineOptions["onOutputs"]>): void {
    const { platform, reported } = this.#parts;
    if (report !== null) this.#onFirstStep();
    if (report !== null && --this.#stepsToRecheck === 0) void this.#recheck();
    const alerts = this.telemetry.observe(outputs, report, requests, platform.now(), times !== null);
    this.#observe(report, requests);
    const events = this.#eventsOf(outputs);
    const steps = report !== null && reported.steps ? [report] : [];
    const words = reported.words ? answeredReports(outputs, report) : [];
    const kernels = times !== null && times.kernels.length > 0 && reported.kernels ? [times] : [];
    const lists = [events, steps, requests, words, kernels, alerts];
    if (lists.some(({ length }) => length > 0)) this.#post({ events, steps, requests, words, kernels, alerts });
  }

  #end(error: ChorusError): void {
    const data = toErrorData(error);
    this.telemetry.observeFatal(data);
    this.#post({
      events: this.#requests.tickets.map((ticket) => ({ type: "error", ticket, error: data })),
      fatal: data,
    });
    this.#requests.clear();
    this.#grammars?.dispose();
    this.#parts.loader.close();
  }

  /** Opens the request once its text is tokens, unless it was aborted meanwhile. */
  async #tokenize(ticket: number, request: GenerationRequest): Promise<void> {
    try {
      const parsed = await this.#parts.model.texts.parse(request, this.#context);
      if (this.#requests.endRequested(ticket)) this.#open(ticket, request, withSeeds(parsed, this.#nextSeed));
    } catch (error) {
      if (this.#requests.endRequested(ticket)) this.#refuse(ticket, error);
    }
  }

  #open(ticket: number, request: GenerationRequest, parsed: ParsedRequest): void {
    const { card, tokenizer } = this.#parts.model;
    try {
      const open = new OpenRequest(ticket, parsed, card.name, tokenizer);
      this.#requests.checkIds(open);
      const { structure } = parsed;
      if (structure !== null) return void this.#addStructured(open, request, structure);
      this.#add(open, request);
      this.#requests.add(open);
    } catch (error) {
      this.#refuse(ticket, error);
    }
  }

  #add(open: OpenRequest, { body }: GenerationRequest, matchers: readonly GrammarMatcher[] | null = null): void {
    const { model, reported } = this.#parts;
    this.engine.add(...open.engineRequests(matchers));
    if (!reported.words) return;
    this.#post({ words: askedReports(open.parsed, body, open.engineRequestIds, model.tokenizer) });
  }

  /** Adds a request once its grammar is compiled, unless it was aborted meanwhile. Other requests don't wait for it. */
  async #addStructured(open: OpenRequest, request: GenerationRequest, structure: GrammarSource): Promise<void> {
    this.#requests.add(open);
    this.#compiling.add(open);
    let matchers: readonly GrammarMatcher[] = [];
    try {
      matchers = await this.#matchersOf(open, structure);
      if (this.#requests.has(open)) this.#add(open, request, matchers);
      else dispose(matchers);
    } catch (error) {
      dispose(matchers);
      if (!this.#requests.has(open)) return;
      this.#requests.delete(open);
      this.#refuse(open.ticket, error);
    } finally {
      this.#compiling.delete(open);
    }
  }

  async #matchersOf(open: OpenRequest, structure: GrammarSource): Promise<readonly GrammarMatcher[]> {
    const { model, platform } = this.#parts;
    const { parsed } = open;
    const { Grammars } = await import("../grammar/grammars.ts");
    this.#grammars ??= new Grammars(() => vocabularyOf(model), platform.openGrammarThread);
    const stopTokenIds = parsed.prompts.flatMap(({ params }) => params.stopTokenIds);
    const endTokenIds = [...new Set([...model.tokenizer.eosTokenIds, ...stopTokenIds])];
    const matchers = await this.#grammars.matchers(structure, endTokenIds, numChoices(parsed));
    open.warn(await this.#grammars.warnings(structure));
    const { reasoning } = parsed;
    if (!isInThought(reasoning)) return matchers;
    const { vocabSize } = model.card;
    const thoughts = (this.#thoughts ??= thoughtTokens(vocabSize, (id) => model.tokenizer.tokenBytes(id)));
    return matchers.map((matcher) => new ThoughtMatcher(matcher, thoughts, reasoning));
  }

  #observe(report: StepReport | null, requests: readonly RequestReport[]): void {
    if (report !== null) {
      for (const entry of report.entries) this.#requests.ofEngineRequest(entry.requestId)?.observeStep(entry, report);
    }
    for (const request of requests) this.#requests.ofEngineRequest(request.requestId)?.observeRequest(request);
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
      if (events.at(-1)?.type === "error") for (const id of open.engineRequestIds) this.engine.abort(id);
    }
    return all;
  }

  #refuse(ticket: number, error: unknown): void {
    const data = toErrorData(error);
    const alerts = this.telemetry.observeRefusal(data, this.#parts.platform.now());
    this.#post({ events: [{ type: "error", ticket, error: data }], alerts });
  }

  #post(message: Partial<EngineMessage>): void {
    this.#parts.onMessage({ ...EMPTY_MESSAGE, ...message });
  }
}

function changedAnswers(adapter: string, { length }: readonly string[]): ChorusError {
  const found = `${adapter} gives other answers with ${length} of its kernels than when the model was loaded.`;
  const message = `${found} Others are used in their place. Where there are none, equal requests may get answers that are no longer equal to the bit; when the model was loaded, logits were the CPU's within 1e-3 (0.05 in int8).`;
  return new ChorusError("wrong_answers", message);
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function dispose(matchers: readonly GrammarMatcher[]): void {
  for (const matcher of matchers) matcher.dispose();
}

function vocabularyOf({ card, tokenizer }: LoadedModel): GrammarVocabulary {
  const tokens = Array.from({ length: tokenizer.vocabSize }, (_, id) =>
    String.fromCharCode(...tokenizer.tokenBytes(id)),
  );
  return { vocabSize: card.vocabSize, tokens };
}
