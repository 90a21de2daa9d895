import type { ChorusEngine, CreateEngineOptions } from "../protocol/engine.ts";
import { toErrorData, type ChorusErrorData } from "../protocol/errors.ts";
import type { LoadProgress } from "../protocol/reports.ts";
import type { ScheduleFlush } from "./frame-flusher.ts";
import { advanceStages, NOTHING_LOADED, type LoadStages } from "./load-stages.ts";
import { createStore, type ReadonlyStore } from "./store.ts";

export type CreateEngine = (options: CreateEngineOptions) => Promise<ChorusEngine>;

export type EngineState =
  | { readonly status: "loading"; readonly stages: LoadStages }
  | { readonly status: "ready"; readonly engine: ChorusEngine }
  /** WebGPU is not there: nothing was downloaded. */
  | { readonly status: "unsupported"; readonly error: ChorusErrorData }
  /** It did not start ("failed"), or it ran and died ("dead"). */
  | { readonly status: "failed" | "dead"; readonly error: ChorusErrorData };

export interface EngineControlOptions {
  readonly createEngine: CreateEngine;
  readonly model: string;
  /** Whether this page has a navigator.gpu at all. */
  readonly hasWebGpu: () => boolean;
  readonly scheduleFlush: ScheduleFlush;
  readonly now: () => number;
}

/** Starts the page's one engine, follows its life, and starts another when it is asked to. */
export class EngineControl {
  readonly store: ReadonlyStore<EngineState>;
  readonly #store = createStore<EngineState>(() => ({ status: "loading", stages: NOTHING_LOADED }));
  readonly #options: EngineControlOptions;
  /** Which start is the newest: what an older one says no longer counts. */
  #attempt = 0;
  /** The newest engine there was, alive or dead. */
  #engine: ChorusEngine | null = null;
  /** Ahead of the store, which is told once per frame. */
  #stages: LoadStages = NOTHING_LOADED;

  constructor(options: EngineControlOptions) {
    this.store = this.#store;
    this.#options = options;
  }

  /** Loads the model, anew where an engine is there already. Resolves when it is ready or has failed. */
  async start(): Promise<void> {
    const attempt = ++this.#attempt;
    void this.#engine?.dispose();
    this.#engine = null;

    if (!this.#options.hasWebGpu()) {
      const error = { code: "webgpu_unavailable", message: "navigator.gpu is missing.", param: null } as const;
      this.#store.setState({ status: "unsupported", error }, true);
      return;
    }
    this.#stages = NOTHING_LOADED;
    this.#store.setState({ status: "loading", stages: NOTHING_LOADED }, true);
    try {
      const onProgress = (progress: LoadProgress) => this.#advance(attempt, progress);
      const engine = await this.#options.createEngine({ model: this.#options.model, onProgress });
      if (attempt !== this.#attempt) {
        void engine.dispose();
        return;
      }
      this.#engine = engine;
      engine.on("fatal", (error) => {
        if (attempt === this.#attempt) this.#store.setState({ status: "dead", error }, true);
      });
      this.#store.setState({ status: "ready", engine }, true);
    } catch (thrown) {
      if (attempt !== this.#attempt) return;
      const error = toErrorData(thrown);
      this.#store.setState({ status: error.code === "webgpu_unavailable" ? "unsupported" : "failed", error }, true);
    }
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
