import type { ChorusEngine, CreateEngineOptions } from "../../protocol/engine.ts";
import { toErrorData, type ChorusErrorData } from "../../protocol/errors.ts";
import type { LoadProgress } from "../../protocol/reports.ts";
import type { ScheduleFlush } from "../frame-flusher.ts";
import { advanceStages, NOTHING_LOADED, type LoadStages } from "./load-stages.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

export type CreateEngine = (options: CreateEngineOptions) => Promise<ChorusEngine>;

export type EngineState =
  | { readonly status: "loading"; readonly stages: LoadStages }
  | { readonly status: "ready"; readonly engine: ChorusEngine }
  /** WebGPU is not there: nothing was downloaded. */
  | { readonly status: "unsupported"; readonly error: ChorusErrorData }
  /** It did not start ("failed"), or it ran and died ("dead"). */
  | { readonly status: "failed" | "dead"; readonly error: ChorusErrorData };

interface EngineControlOptions {
  readonly createEngine: CreateEngine;
  /** What to load until another is chosen. */
  readonly choice: ModelChoice;
  /** Whether this page has a navigator.gpu at all. */
  readonly hasWebGpu: () => boolean;
  /** Called with each new engine before `store` says that it is ready, so that its first step can't be missed. */
  readonly onEngine?: (engine: ChorusEngine) => void;
  readonly scheduleFlush: ScheduleFlush;
  readonly now: () => number;
}

const SPECULATION = "speculation";

/** Starts the page's one engine, follows its life, and starts another when it is asked to. */
export class EngineControl {
  readonly #choice;
  /** The model that runs, or is being loaded. */
  readonly choice: ReadonlyStore<ModelChoice>;
  readonly #isSpeculating = createStore<boolean>(() => remembered(SPECULATION) === "on");
  /** Whether the engine drafts tokens and checks several in one step. Remembered. */
  readonly isSpeculating: ReadonlyStore<boolean> = this.#isSpeculating;
  readonly #store = createStore<EngineState>(() => ({ status: "loading", stages: NOTHING_LOADED }));
  readonly store: ReadonlyStore<EngineState> = this.#store;
  readonly #options: EngineControlOptions;
  /** Which start is the newest: what an older one says no longer counts. */
  #attempt = 0;
  /** The newest engine there was, alive or dead. */
  #engine: ChorusEngine | null = null;
  /** Ahead of the store, which is told once per frame. */
  #stages: LoadStages = NOTHING_LOADED;

  constructor(options: EngineControlOptions) {
    this.#options = options;
    this.choice = this.#choice = createStore<ModelChoice>(() => options.choice);
  }

  /** Loads the model, anew where an engine is there already. Resolves when it is ready or has failed. */
  async start(): Promise<void> {
    const error = await this.#load();
    if (error) this.#showFailure(error);
  }

  /**
   * Loads another model in the place of the one that is there: both at once may not fit. Where it can't be loaded, the
   * one before comes back. Resolves with the reason, or null.
   */
  async switchTo(choice: ModelChoice): Promise<ChorusErrorData | null> {
    const before = this.#choice.getState();
    this.#choice.setState(choice, true);
    const error = await this.#load();
    if (error?.code === "webgpu_unavailable") this.#showFailure(error);
    else if (error) {
      this.#choice.setState(before, true);
      await this.start();
    }
    return error;
  }

  /** An engine is made with it or without: this one goes, and the model is loaded again. */
  async speculate(isOn: boolean): Promise<void> {
    this.#isSpeculating.setState(isOn, true);
    remember(SPECULATION, isOn ? "on" : "off");
    await this.start();
  }

  /** Resolves with why it failed; null: it is ready, or a newer start has taken its place. */
  async #load(): Promise<ChorusErrorData | null> {
    const attempt = ++this.#attempt;
    void this.#engine?.dispose();
    this.#engine = null;

    if (!this.#options.hasWebGpu()) {
      return { code: "webgpu_unavailable", message: "navigator.gpu is missing.", param: null };
    }
    this.#stages = NOTHING_LOADED;
    this.#store.setState({ status: "loading", stages: NOTHING_LOADED }, true);
    try {
      const onProgress = (progress: LoadProgress) => this.#advance(attempt, progress);
      const speculation = this.#isSpeculating.getState() ? ({ method: "ngram" } as const) : null;
      const engine = await this.#options.createEngine({ ...this.#choice.getState(), speculation, onProgress });
      if (attempt !== this.#attempt) {
        void engine.dispose();
        return null;
      }
      this.#engine = engine;
      engine.on("fatal", (error) => {
        if (attempt === this.#attempt) this.#store.setState({ status: "dead", error }, true);
      });
      this.#options.onEngine?.(engine);
      this.#store.setState({ status: "ready", engine }, true);
      return null;
    } catch (thrown) {
      return attempt === this.#attempt ? toErrorData(thrown) : null;
    }
  }

  #showFailure(error: ChorusErrorData): void {
    this.#store.setState({ status: error.code === "webgpu_unavailable" ? "unsupported" : "failed", error }, true);
  }

  #advance(attempt: number, progress: LoadProgress): void {
    if (attempt !== this.#attempt) return;
    this.#stages = advanceStages(this.#stages, progress, this.#options.now());
    this.#options.scheduleFlush(this.#showStages);
  }

  readonly #showStages = () => {
    if (this.#store.getState().status === "loading")
      this.#store.setState({ status: "loading", stages: this.#stages }, true);
  };
}
