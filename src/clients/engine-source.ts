import type { ChorusEngine } from "../protocol/engine.ts";
import type { LoadProgress } from "../protocol/reports.ts";

/** An engine, or what creates one when it is first needed. */
export type EngineSource = ChorusEngine | ((onProgress: (progress: LoadProgress) => void) => Promise<ChorusEngine>);

/** The words of the Prompt API. */
export type Availability = "unavailable" | "downloadable" | "downloading" | "available";

/** One engine for all who share it, created once. */
export class LazyEngine {
  readonly #source: EngineSource;
  readonly #listeners = new Set<(progress: LoadProgress) => void>();
  #engine: Promise<ChorusEngine> | null = null;
  #availability: Availability;

  constructor(source: EngineSource) {
    this.#source = source;
    this.#availability = typeof source === "function" ? "downloadable" : "available";
  }

  get availability(): Availability {
    return this.#availability;
  }

  /** A failed attempt does not count: the next call tries again. */
  open(onProgress?: (progress: LoadProgress) => void): Promise<ChorusEngine> {
    if (onProgress) this.#listeners.add(onProgress);
    return (this.#engine ??= this.#create());
  }

  async #create(): Promise<ChorusEngine> {
    if (typeof this.#source !== "function") return this.#source;
    this.#availability = "downloading";
    try {
      const engine = await this.#source((progress) => this.#listeners.forEach((listener) => listener(progress)));
      this.#availability = "available";
      return engine;
    } catch (error) {
      this.#engine = null;
      this.#availability = "downloadable";
      throw error;
    } finally {
      this.#listeners.clear();
    }
  }
}
