import type { BatchingMode, ResolvedEngineConfig } from "../protocol/config.ts";
import type { Sequence } from "./sequence.ts";

type BatchFormerConfig = Pick<ResolvedEngineConfig, "batchingMode" | "batchWindowMs" | "maxNumSeqs">;

/**
 * Who may join those that run, by the batching mode. Continuous: anybody, at any step. Static: a batch is formed when the
 * one before has come to its end, of those that arrived within the window, and nobody joins it later. Sequential: static
 * with batches of one.
 */
export class BatchFormer {
  readonly #config: BatchFormerConfig;
  #mode: BatchingMode;
  #batch = new Set<Sequence>();

  constructor(config: BatchFormerConfig) {
    this.#config = config;
    this.#mode = config.batchingMode;
  }

  /** Who runs at a change of mode is the first batch, as far as there is room in it. */
  setMode(mode: BatchingMode, running: readonly Sequence[]): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#batch = new Set(running.slice(0, this.batchSize));
  }

  /** Most that may run at once. */
  get batchSize(): number {
    return this.#mode === "sequential" ? 1 : this.#config.maxNumSeqs;
  }

  /** Of those that wait, in order, who may be admitted now. */
  candidates(waiting: readonly Sequence[], numRunning: number, nowMs: number): readonly Sequence[] {
    if (this.#mode === "continuous") return waiting;
    for (const sequence of this.#batch) if (sequence.isFinished) this.#batch.delete(sequence);
    if (this.#batch.size === 0 && numRunning === 0 && nowMs >= this.formsAtMs(waiting)) {
      this.#batch = new Set(waiting.slice(0, this.batchSize));
    }
    return waiting.filter((sequence) => this.#batch.has(sequence));
  }

  /** When the next batch begins, if no batch runs: at once, or when the window closes. */
  formsAtMs(waiting: Iterable<Sequence>): number {
    if (this.#mode !== "static") return -Infinity;
    let count = 0;
    let firstArrivalMs = Infinity;
    for (const { arrivalMs } of waiting) {
      count += 1;
      firstArrivalMs = Math.min(firstArrivalMs, arrivalMs);
    }
    return count >= this.batchSize ? -Infinity : firstArrivalMs + this.#config.batchWindowMs;
  }

  /** How many may run, those that do included, until those that do have come to their end. */
  capacity(numRunning: number): number {
    return this.#mode === "static" && numRunning > 0 ? numRunning : this.batchSize;
  }
}
