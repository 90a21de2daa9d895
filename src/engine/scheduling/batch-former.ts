import type { BatchingMode, ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Sequence, SequenceGroup } from "../core/sequence.ts";
import type { SlotBudget } from "./slot-budget.ts";

type BatchFormerConfig = Pick<ResolvedEngineConfig, "batchingMode" | "batchWindowMs" | "maxNumSeqs">;

/** What a batch counts: a sequence, or a group, since its members go on together. */
type Unit = Sequence | SequenceGroup;

/**
 * Who may join those that run, by the batching mode. Continuous: anybody, at any step. Static: a batch is formed when the
 * one before has come to its end, of those that arrived within the window, and nobody joins it later. Sequential: static
 * with batches of one.
 */
export class BatchFormer {
  readonly #config: BatchFormerConfig;
  #mode: BatchingMode;
  #batch = new Set<Unit>();

  constructor(config: BatchFormerConfig) {
    this.#config = config;
    this.#mode = config.batchingMode;
  }

  /** Who runs at a change of mode is the first batch, as far as there is room in it. */
  setMode(mode: BatchingMode, running: readonly Sequence[]): void {
    if (mode === this.#mode) return;
    this.#mode = mode;
    this.#batch = this.#firstUnits(running);
  }

  /** Most that may run at once. */
  get batchSize(): number {
    return this.#mode === "sequential" ? 1 : this.#config.maxNumSeqs;
  }

  /** Whether more run than may. */
  isOverfull(running: readonly Sequence[]): boolean {
    return running.length > this.batchSize && new Set(running.map(unitOf)).size > this.batchSize;
  }

  /** Of those that wait, in order, who may be admitted now: before all others, in any mode, beams that others wait for. */
  candidates(waiting: readonly Sequence[], slots: SlotBudget, numRunning: number, nowMs: number): readonly Sequence[] {
    const open = waiting.filter(({ isHeld }) => !isHeld);
    const awaited = open.filter((sequence) => slots.isAwaited(sequence));
    const others = open.filter((sequence) => !slots.isAwaited(sequence));
    return [...awaited, ...this.#newcomers(others, numRunning, nowMs)];
  }

  #newcomers(waiting: readonly Sequence[], numRunning: number, nowMs: number): readonly Sequence[] {
    if (this.#mode === "continuous") return waiting;
    for (const unit of this.#batch) if (unit.isFinished) this.#batch.delete(unit);
    if (this.#batch.size === 0 && numRunning === 0 && nowMs >= this.formsAtMs(waiting)) {
      this.#batch = this.#firstUnits(waiting);
    }
    return waiting.filter((sequence) => this.#batch.has(unitOf(sequence)));
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

  #firstUnits(sequences: readonly Sequence[]): Set<Unit> {
    return new Set([...new Set(sequences.map(unitOf))].slice(0, this.batchSize));
  }
}

function unitOf(sequence: Sequence): Unit {
  return sequence.group ?? sequence;
}
