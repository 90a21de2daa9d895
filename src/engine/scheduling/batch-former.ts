import type { BatchingMode, ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Sequence, SequenceGroup } from "../sequence.ts";
import type { SlotBudget } from "./slot-budget.ts";

type BatchFormerConfig = Pick<ResolvedEngineConfig, "batchingMode" | "batchWindowMs" | "maxNumSeqs">;

/** A unit of a batch: a sequence, or a group, whose members go on together. */
type Unit = Sequence | SequenceGroup;

/**
 * Decides which waiting sequences may join the running ones. Continuous: any, at any step. Static: a batch forms when the
 * last one has finished, from the requests that arrive within the window, and none joins it later. Sequential: static with
 * batches of one.
 */
export class BatchFormer {
  #config: BatchFormerConfig;
  #batch = new Set<Unit>();
  /** Whether a changed config may leave more running than fit. */
  #mayBeOverfull = false;

  constructor(config: BatchFormerConfig) {
    this.#config = config;
  }

  /** Follows another config. In another mode the running sequences become the first batch, as far as it has room. */
  update(config: BatchFormerConfig, running: readonly Sequence[]): void {
    const isSameMode = config.batchingMode === this.#mode;
    this.#config = config;
    this.#mayBeOverfull = true;
    if (!isSameMode) this.#batch = this.#firstUnits(running);
  }

  /** Most units that may run at once. */
  get batchSize(): number {
    return this.#mode === "sequential" ? 1 : this.#config.maxNumSeqs;
  }

  /** Whether more sequences run than the config allows. A group counts all its beams, but may always run by itself. */
  isOverfull(running: readonly Sequence[]): boolean {
    if (!this.#mayBeOverfull) return false;
    const units = new Set(running.map(unitOf));
    const size = [...units].reduce((sum, unit) => sum + ("numBeams" in unit ? unit.numBeams : 1), 0);
    this.#mayBeOverfull = units.size > 1 && size > this.batchSize;
    return this.#mayBeOverfull;
  }

  get #mode(): BatchingMode {
    return this.#config.batchingMode;
  }

  /** Returns the waiting sequences that may be admitted now, in order. In any mode, beams of running groups come first. */
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

  /** Returns when the next batch forms, if none runs: at once, or when the window closes. */
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

  /** Returns the most sequences that may run. Counts the running sequences too, until they finish. */
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
