import {
  BACKEND_CHOICES,
  CONFIG_FIELDS,
  changesBetween,
  fieldThatRestarts,
  randomId,
  toErrorData,
  type BackendChoice,
  type BatchingMode,
  type ChorusEngine,
  type ChorusErrorData,
  type CreateEngineOptions,
  type EngineConfig,
  type LoadProgress,
} from "../../../index.ts";
import type { ScheduleFlush } from "../frame-flusher.ts";
import { advanceStages, NOTHING_LOADED, type LoadStages } from "./load-stages.ts";
import { isNamed, keyOfChoice, type ModelChoice } from "../models/model-choice.ts";
import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

export type CreateEngine = (options: CreateEngineOptions) => Promise<ChorusEngine>;

export type EngineState =
  | { readonly status: "loading"; readonly stages: LoadStages }
  | { readonly status: "ready"; readonly engine: ChorusEngine }
  /** Neither GPU nor CPU can be used; nothing was downloaded. */
  | { readonly status: "unsupported"; readonly error: ChorusErrorData }
  /** failed: it did not start. dead: it ran and died. */
  | { readonly status: "failed" | "dead"; readonly error: ChorusErrorData };

interface EngineControlOptions {
  readonly createEngine: CreateEngine;
  /** The first model to load. */
  readonly choice: ModelChoice;
  /** The backend. [the one chosen before, or "auto"] */
  readonly backend?: BackendChoice | null;
  /** The serving config. [the engine's defaults] */
  readonly config?: EngineConfig;
  /** Called with each new engine before `store` says that it is ready, so that its first step can't be missed. */
  readonly onEngine?: (engine: ChorusEngine) => void;
  readonly scheduleFlush: ScheduleFlush;
  readonly now: () => number;
}

/** The choices with which an engine starts. */
export interface EngineChoice {
  readonly model: ModelChoice;
  readonly backend: BackendChoice;
  /** The serving config. */
  readonly config: EngineConfig;
  /** Whether tabs that choose the same share one engine. */
  readonly isShared: boolean;
}

/** What is chosen for the engine that runs or is being loaded. */
export interface ChosenEngine extends EngineChoice {
  /** What is used instead of fields of `config` meanwhile. People can't choose these fields then. */
  readonly held: EngineConfig;
  /** Whether this was chosen in another tab. */
  readonly isFollowing: boolean;
  /** Why the engine started without the requested draft model; null if it has it, or none was requested. */
  readonly withoutDrafts: ChorusErrorData | null;
}

/** Returns the mode in which the engine batches. */
export function batchingModeOf({ config, held }: ChosenEngine): BatchingMode {
  return held.batchingMode ?? config.batchingMode ?? CONFIG_FIELDS.batchingMode.default;
}

/** Returns a key that is equal for tabs that share an engine. */
export function keyOfEngine({ model, backend, config, isShared }: EngineChoice): string {
  if (!isShared || !isNamed(model)) return randomId();
  return JSON.stringify([keyOfChoice(model), model.dtype ?? null, backend, config]);
}

function isSameButConfig(a: EngineChoice, b: EngineChoice): boolean {
  return a.isShared && keyOfEngine({ ...a, config: {} }) === keyOfEngine({ ...b, config: {} });
}

/** The field that errors of the draft model name. */
const DRAFT_MODEL = "speculation.model";
const ONE_ENGINE = "one-engine";
const BACKEND = "backend";
/** A stuck engine delays the next one by this time. */
const MAX_ENDING_MS = 10_000;

/** Returns the backend chosen before in this browser. */
export function rememberedBackend(): BackendChoice {
  const name = remembered(BACKEND);
  return BACKEND_CHOICES.find((choice) => choice === name) ?? "auto";
}

/** The result of a start that was replaced by another before its engine was ready. */
export const REPLACED: ChorusErrorData = {
  code: "engine_disposed",
  message: "The engine was started with another choice meanwhile.",
  param: null,
};

const isUnsupported = ({ code }: ChorusErrorData) => code === "webgpu_unavailable" || code === "wasm_unavailable";

/** Starts the page's one engine, follows its state, and replaces it on request. */
export class EngineControl {
  readonly #chosen;
  readonly chosen: ReadonlyStore<ChosenEngine>;
  readonly #store = createStore<EngineState>(() => ({ status: "loading", stages: NOTHING_LOADED }));
  readonly store: ReadonlyStore<EngineState> = this.#store;
  readonly #options: EngineControlOptions;
  /** The newest engine, alive or dead, or still being loaded. */
  #newest: Promise<ChorusEngine> | null = null;
  /** Aborts the newest load, whose result is then ignored. */
  #replacing = new AbortController();
  /** The config that the newest engine was loaded with, and told since. */
  #told: EngineConfig = {};
  /** Newer than the store, which is updated once per frame. */
  #stages: LoadStages = NOTHING_LOADED;

  constructor(options: EngineControlOptions) {
    this.#options = options;
    this.chosen = this.#chosen = createStore<ChosenEngine>(() => ({
      model: options.choice,
      backend: options.backend ?? rememberedBackend(),
      config: options.config ?? {},
      isShared: remembered(ONE_ENGINE) === "on",
      held: {},
      isFollowing: false,
      withoutDrafts: null,
    }));
  }

  /**
   * Loads the model, and replaces an existing engine. If the draft model can't be loaded, it starts without one: another
   * person's link may name it. Resolves when the engine is ready or has failed.
   */
  async start(): Promise<void> {
    let error = await this.#load();
    if (error?.param === DRAFT_MODEL) {
      const { speculation: _, ...config } = this.chosen.getState().config;
      this.#chosen.setState({ config, withoutDrafts: error });
      error = await this.#load();
    }
    if (error && error !== REPLACED) this.#showFailure(error);
  }

  /**
   * Replaces the model. The old one is disposed first, since both may not fit together. If the new one can't be loaded,
   * the old one is loaded again. Resolves with the error, or null; with REPLACED if another model was chosen meanwhile, and runs.
   */
  switchTo(choice: ModelChoice): Promise<ChorusErrorData | null> {
    return this.#loadWith("model", choice);
  }

  /** Returns whether the engine must be loaded again to serve with this config. */
  needsRestart(config: EngineConfig): boolean {
    const state = this.#store.getState();
    if (state.status !== "ready") return true;
    return fieldThatRestarts(this.chosen.getState().config, config, state.engine.sizes) !== null;
  }

  /**
   * Changes the serving config: at once if possible, else as switchTo does. Chats stay; an answer in progress goes on, or keeps
   * its text.
   */
  reconfigure(config: EngineConfig): Promise<ChorusErrorData | null> {
    return this.needsRestart(config) ? this.#loadWith("config", config) : this.change(config);
  }

  /** Changes what needs no restart: from the engine's next step on, or once it is loaded. */
  async change(config: EngineConfig): Promise<ChorusErrorData | null> {
    const before = this.chosen.getState().config;
    this.#choose({ config });
    const error = await this.#tell();
    if (error && this.chosen.getState().config === config) this.#choose({ config: before });
    return error;
  }

  /** Uses these fields, which need no restart, instead of those chosen until `release` is called or others are held. */
  hold(held: EngineConfig): () => void {
    const replace = (fields: EngineConfig) => {
      this.#chosen.setState({ held: fields });
      void this.#tell();
    };
    replace(held);
    return () => {
      if (this.chosen.getState().held === held) replace({});
    };
  }

  /** Changes the backend: the model is loaded again, and the chats stay. */
  async useBackend(backend: BackendChoice): Promise<void> {
    this.#choose({ backend });
    remember(BACKEND, backend);
    await this.start();
  }

  #choose(choice: Partial<ChosenEngine>): void {
    this.#chosen.setState({ ...choice, isFollowing: false });
  }

  /** Tells a running engine what has changed since it was told last. One that dies of it says so itself. */
  async #tell(): Promise<ChorusErrorData | null> {
    const state = this.#store.getState();
    if (state.status !== "ready") return null;
    const before = this.#told;
    this.#told = this.#configInUse;
    const changes = changesBetween(before, this.#told);
    try {
      if (Object.keys(changes).length > 0) await state.engine.update(changes);
      return null;
    } catch (error) {
      this.#told = before;
      return toErrorData(error);
    }
  }

  get #configInUse(): EngineConfig {
    const { config, held } = this.chosen.getState();
    return { ...config, ...held };
  }

  async #loadWith<Name extends keyof EngineChoice>(
    name: Name,
    value: EngineChoice[Name],
  ): Promise<ChorusErrorData | null> {
    const before = this.chosen.getState()[name];
    this.#choose({ [name]: value, withoutDrafts: null });
    const error = await this.#load();
    if (error === REPLACED) {
      await this.#loaded();
      // The last of newer starts may have this value too: the engine falls back to it if others fail.
      const isUsed = this.#store.getState().status === "ready" && this.chosen.getState()[name] === value;
      return isUsed ? null : REPLACED;
    }
    if (error && isUnsupported(error)) this.#showFailure(error);
    else if (error) {
      this.#choose({ [name]: before });
      await this.start();
    }
    return error;
  }

  /** Resolves when nothing is being loaded. */
  async #loaded(): Promise<void> {
    const isLoading = () => this.#store.getState().status === "loading";
    if (!isLoading()) return;
    await new Promise<void>((resolve) => {
      const unsubscribe = this.#store.subscribe(() => {
        if (isLoading()) return;
        unsubscribe();
        resolve();
      });
    });
  }

  /** Turns sharing one engine between tabs on or off: the model is loaded again, and the chats stay. */
  async share(isOn: boolean): Promise<void> {
    this.#choose({ isShared: isOn });
    remember(ONE_ENGINE, isOn ? "on" : "off");
    await this.start();
  }

  /** Starts another tab's choice, unless it runs here. A model of this tab's own files stays. */
  async follow(choice: EngineChoice): Promise<void> {
    const before = this.chosen.getState();
    if (!isNamed(before.model)) return;
    const isLive = isSameButConfig(before, choice) && !this.needsRestart(choice.config);
    const { model, backend, config, isShared } = choice;
    this.#chosen.setState({ isFollowing: true, ...(isShared ? { model, backend, config, isShared } : { isShared }) });
    const isSame =
      before.isShared === choice.isShared && (!choice.isShared || keyOfEngine(before) === keyOfEngine(choice));
    // An engine that several tabs share has changed already.
    if (isLive) this.#told = this.#configInUse;
    else if (!isSame) await this.start();
  }

  /** Resolves with the error; null if the engine is ready. */
  async #load(): Promise<ChorusErrorData | null> {
    this.#replacing.abort();
    const { signal } = (this.#replacing = new AbortController());
    this.#stages = NOTHING_LOADED;
    this.#store.setState({ status: "loading", stages: NOTHING_LOADED }, true);
    try {
      const engine = await (this.#newest = this.#open(this.#newest, signal));
      if (signal.aborted) return REPLACED;
      engine.on("fatal", (error) => {
        if (!signal.aborted) this.#store.setState({ status: "dead", error }, true);
      });
      this.#options.onEngine?.(engine);
      this.#store.setState({ status: "ready", engine }, true);
      void this.#tell();
      return null;
    } catch (thrown) {
      return signal.aborted ? REPLACED : toErrorData(thrown);
    }
  }

  /** Opens an engine once the previous one has ended: both may not fit together. */
  async #open(before: Promise<ChorusEngine> | null, signal: AbortSignal): Promise<ChorusEngine> {
    if (before !== null) {
      const ended = before.then((engine) => engine.dispose()).catch(() => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, MAX_ENDING_MS))]);
    }
    signal.throwIfAborted();
    const { model, backend, isShared } = this.chosen.getState();
    this.#told = this.#configInUse;
    return this.#options.createEngine({
      ...model,
      ...this.#told,
      backend,
      worker: isShared ? "shared" : true,
      signal,
      onProgress: (progress) => this.#advance(signal, progress),
    });
  }

  #showFailure(error: ChorusErrorData): void {
    this.#store.setState({ status: isUnsupported(error) ? "unsupported" : "failed", error }, true);
  }

  #advance(signal: AbortSignal, progress: LoadProgress): void {
    if (signal.aborted) return;
    this.#stages = advanceStages(this.#stages, progress, this.#options.now());
    this.#options.scheduleFlush(this.#showStages);
  }

  readonly #showStages = () => {
    if (this.#store.getState().status === "loading")
      this.#store.setState({ status: "loading", stages: this.#stages }, true);
  };
}
