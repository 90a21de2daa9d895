import {
  BACKEND_CHOICES,
  changesBetween,
  fieldThatRestarts,
  randomId,
  toErrorData,
  type BackendChoice,
  type BatchingMode,
  type ChorusEngine,
  type ChorusErrorData,
  type CreateEngineOptions,
  type EngineChanges,
  type EngineConfig,
} from "../../../index.ts";
import { errorOf } from "../error-of.ts";
import type { ScheduleFlush } from "../frame-flusher.ts";
import { advanceStages, NOTHING_LOADED, type LoadStages } from "./load-stages.ts";
import { isNamed, keyOfChoice, rememberChoice, type ModelChoice } from "../models/model-choice.ts";
import { remember, remembered, rememberedOf } from "../remembered.ts";
import { createStore, until, type ReadonlyStore } from "../store.ts";

export type CreateEngine = (options: CreateEngineOptions) => Promise<ChorusEngine>;

export type EngineState =
  | { readonly status: "loading"; readonly stages: LoadStages }
  | { readonly status: "ready"; readonly engine: ChorusEngine }
  /** Neither GPU nor CPU can be used; nothing was downloaded. */
  | { readonly status: "unsupported"; readonly error: ChorusErrorData }
  /** failed: it did not start. dead: it ran and died. */
  | { readonly status: "failed" | "dead"; readonly error: ChorusErrorData };

export interface EngineControlOptions {
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
  /** The page's clock, milliseconds. */
  readonly now: () => number;
}

export interface EngineChoice {
  readonly model: ModelChoice;
  /** Remembered. */
  readonly backend: BackendChoice;
  readonly config: EngineConfig;
  /** Whether tabs that choose the same share one engine. Remembered. */
  readonly isShared: boolean;
}

/** Returns a key that is equal for tabs that share an engine. */
export function keyOfEngine({ model, backend, config, isShared }: EngineChoice): string {
  if (!isShared || !isNamed(model)) return randomId();
  return JSON.stringify([keyOfChoice(model), model.dtype ?? null, backend, config]);
}

/** The field that errors of the draft model name. */
const DRAFT_MODEL = "speculation.model";
const ONE_ENGINE = "one-engine";
const BACKEND = "backend";
/** A stuck engine delays the next one by this time. */
const MAX_ENDING_MS = 10_000;

export function rememberedBackend(): BackendChoice {
  return rememberedOf(BACKEND, BACKEND_CHOICES) ?? "auto";
}

/** The result of a start that was replaced by another before its engine was ready. */
export const REPLACED: ChorusErrorData = {
  code: "engine_disposed",
  message: "The engine was started with another choice meanwhile.",
  param: null,
};

/** Whether a model's weights can't have the requested format, however much memory there is. */
export const isOfDtype = ({ code, param }: ChorusErrorData) => code === "invalid_value" && param === "dtype";
const isUnsupported = ({ code }: ChorusErrorData) => code === "webgpu_unavailable" || code === "wasm_unavailable";

/** Starts the page's one engine, follows its state, and replaces it on request. */
export class EngineControl {
  readonly #chosen;
  /** The choices with which the engine that runs or is being loaded was started. */
  readonly chosen: ReadonlyStore<EngineChoice>;
  readonly #leftOut = createStore<ChorusErrorData | null>(() => null);
  /** Why the engine started without the requested draft model, or format of the weights; null if nothing was left out. */
  readonly leftOut: ReadonlyStore<ChorusErrorData | null> = this.#leftOut;
  readonly #withoutGpu = createStore<ChorusErrorData | null>(() => null);
  /** Why the GPU is not used that was chosen; null if one is, or none was chosen. */
  readonly withoutGpu: ReadonlyStore<ChorusErrorData | null> = this.#withoutGpu;
  #isFollowing = false;
  #onChosen: (choice: EngineChoice, isSharedChanged: boolean) => void = () => undefined;
  readonly #store = createStore<EngineState>(() => ({ status: "loading", stages: NOTHING_LOADED }));
  readonly store: ReadonlyStore<EngineState> = this.#store;
  readonly #options: EngineControlOptions;
  /** The newest engine, alive or dead, or still being loaded. */
  #newest: Promise<ChorusEngine> | null = null;
  /** Aborts the newest load, whose result is then ignored. */
  #replacing = new AbortController();

  constructor(options: EngineControlOptions) {
    this.#options = options;
    this.chosen = this.#chosen = createStore<EngineChoice>(() => ({
      model: options.choice,
      backend: options.backend ?? rememberedBackend(),
      config: options.config ?? {},
      isShared: remembered(ONE_ENGINE) === "on",
    }));
  }

  /** Whether the config was chosen in another tab. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Calls `listener` with each choice made in this tab, before the running engine is replaced. */
  onChosen(listener: (choice: EngineChoice, isSharedChanged: boolean) => void): void {
    this.#onChosen = listener;
  }

  /**
   * Loads the model, and replaces an existing engine. If the draft model can't be loaded, it starts without one: another person's
   * link may name it. A format that the model's weights can't have was remembered from before it was packed: it is forgotten.
   * Resolves when the engine is ready or has failed.
   */
  async start(): Promise<void> {
    let error = await this.#load();
    if (error?.param === DRAFT_MODEL) {
      const { speculation: _, ...config } = this.#chosen.getState().config;
      this.#leftOut.setState(error, true);
      this.#chosen.setState({ config });
      error = await this.#load();
    }
    if (error && isOfDtype(error)) {
      const { dtype: _, ...model } = this.#chosen.getState().model;
      this.#leftOut.setState(error, true);
      this.#chosen.setState({ model });
      rememberChoice(model);
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
    return fieldThatRestarts(this.#chosen.getState().config, config, state.engine.sizes) !== null;
  }

  /**
   * Changes the serving config: at once if possible, else as switchTo does. Chats stay; an answer in progress goes on, or keeps
   * its text.
   * @param batchingMode changed with it, where the engine needn't be loaded again
   */
  async reconfigure(config: EngineConfig, batchingMode?: BatchingMode): Promise<ChorusErrorData | null> {
    const state = this.#store.getState();
    if (state.status !== "ready" || this.needsRestart(config)) return this.#loadWith("config", config);
    const { engine } = state;
    const changes: EngineChanges = {
      ...changesBetween(this.#chosen.getState().config, config),
      ...(batchingMode !== undefined && batchingMode !== engine.config.batchingMode && { batchingMode }),
    };
    const error = Object.keys(changes).length > 0 ? await errorOf(engine.update(changes)) : null;
    if (error === null) this.#choose({ config });
    return error;
  }

  /** Changes the backend: the model is loaded again, and the chats stay. */
  async useBackend(backend: BackendChoice): Promise<void> {
    this.#withoutGpu.setState(null, true);
    remember(BACKEND, backend);
    this.#choose({ backend });
    await this.start();
  }

  #choose(choice: Partial<EngineChoice>): void {
    this.#isFollowing = false;
    this.#chosen.setState(choice);
    this.#onChosen(this.#chosen.getState(), choice.isShared !== undefined);
  }

  async #loadWith<Name extends keyof EngineChoice>(
    name: Name,
    value: EngineChoice[Name],
  ): Promise<ChorusErrorData | null> {
    const before = this.#chosen.getState()[name];
    this.#leftOut.setState(null, true);
    this.#choose({ [name]: value });
    const error = await this.#load();
    if (error === REPLACED) return this.#becomes(name, value);
    if (error && isUnsupported(error)) this.#showFailure(error);
    else if (error) {
      this.#choose({ [name]: before });
      await this.start();
    }
    return error;
  }

  /** Waits for newer starts. The last of them may have this value too: the engine falls back to it if others fail. */
  async #becomes<Name extends keyof EngineChoice>(
    name: Name,
    value: EngineChoice[Name],
  ): Promise<ChorusErrorData | null> {
    await until(this.#store, ({ status }) => status !== "loading");
    const isChosen = this.#chosen.getState()[name] === value;
    return this.#store.getState().status === "ready" && isChosen ? null : REPLACED;
  }

  /** Turns sharing one engine between tabs on or off: the model is loaded again, and the chats stay. */
  async share(isOn: boolean): Promise<void> {
    remember(ONE_ENGINE, isOn ? "on" : "off");
    this.#choose({ isShared: isOn });
    await this.start();
  }

  /** Starts another tab's choice, unless it runs here. A model of this tab's own files stays. */
  async follow(choice: EngineChoice): Promise<void> {
    const before = this.#chosen.getState();
    if (!isNamed(before.model)) return;
    const [keyBefore, key] = [before, choice].map((one) => keyOfEngine({ ...one, config: {} }));
    const isLive = before.isShared && keyBefore === key && !this.needsRestart(choice.config);
    if (choice.isShared) this.#isFollowing = true;
    this.#chosen.setState(choice.isShared ? choice : { isShared: false });
    const isSame =
      before.isShared === choice.isShared && (!choice.isShared || keyOfEngine(before) === keyOfEngine(choice));
    // An engine that several tabs share has changed already.
    if (!isSame && !isLive) await this.start();
  }

  /** Resolves with the error; null if the engine is ready. If the chosen GPU can't be used, another backend is. */
  async #load(): Promise<ChorusErrorData | null> {
    this.#replacing.abort();
    const { signal } = (this.#replacing = new AbortController());
    this.#store.setState({ status: "loading", stages: NOTHING_LOADED }, true);
    try {
      const engine = await (this.#newest = this.#open(this.#newest, signal));
      if (signal.aborted) return REPLACED;
      engine.on("fatal", (error) => {
        if (!signal.aborted) this.#store.setState({ status: "dead", error }, true);
      });
      if (engine.model.backend === "webgpu") this.#withoutGpu.setState(null, true);
      this.#options.onEngine?.(engine);
      this.#store.setState({ status: "ready", engine }, true);
      return null;
    } catch (thrown) {
      if (signal.aborted) return REPLACED;
      const error = toErrorData(thrown);
      if (error.code !== "webgpu_unavailable" || this.#chosen.getState().backend !== "webgpu") return error;
      this.#withoutGpu.setState(error, true);
      // Not remembered: the GPU may be back at the next visit.
      this.#chosen.setState({ backend: "auto" });
      return this.#load();
    }
  }

  /** Opens an engine once the previous one has ended: both may not fit together. */
  async #open(before: Promise<ChorusEngine> | null, signal: AbortSignal): Promise<ChorusEngine> {
    if (before !== null) {
      const ended = before.then((engine) => engine.dispose()).catch(() => undefined);
      await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, MAX_ENDING_MS))]);
    }
    signal.throwIfAborted();
    const { createEngine, now, scheduleFlush } = this.#options;
    const { model, backend, config, isShared } = this.#chosen.getState();
    // Newer than the store, which is updated once per frame.
    let stages = NOTHING_LOADED;
    const show = () => {
      const isLoading = !signal.aborted && this.#store.getState().status === "loading";
      if (isLoading) this.#store.setState({ status: "loading", stages }, true);
    };
    return createEngine({
      ...model,
      ...config,
      backend,
      worker: isShared ? "shared" : true,
      signal,
      onProgress: (progress) => {
        stages = advanceStages(stages, progress, now());
        scheduleFlush(show);
      },
    });
  }

  #showFailure(error: ChorusErrorData): void {
    this.#store.setState({ status: isUnsupported(error) ? "unsupported" : "failed", error }, true);
  }
}
