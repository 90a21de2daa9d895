import { maxSpareSamples, type SchedulerConfig } from "./scheduler-config.ts";
import type { ScheduledSequence, Sequence } from "../core/sequence.ts";

/** Rows that a step has left, and samples beyond the one that every sequence may draw. */
export class StepBudget {
  rows: number;
  #spareSamples: number;
  readonly #mostRows: number;

  constructor(rows: number, config: SchedulerConfig) {
    this.rows = rows;
    this.#spareSamples = maxSpareSamples(config);
    this.#mostRows = config.longPrefillTokenThreshold || Infinity;
  }

  /**
   * Returns the rows of a sequence's next chunk: at least one, and otherwise no more than leaves `keptBack` rows for others.
   * A row that scores the prompt takes a sample, so their number is limited by the spare samples.
   */
  rowsFor(sequence: Sequence, keptBack = 0): number {
    const rows = Math.min(sequence.numPendingTokens, this.#mostRows, Math.max(1, this.rows - keptBack));
    return Math.min(sequence.numUnscoredTokens, rows) > this.#spareSamples ? this.#spareSamples : rows;
  }

  /** Returns how many drafts a sequence may have after `count` rows. */
  draftsFor(count: number, keptBack: number): number {
    return Math.min(this.#spareSamples, this.rows - keptBack - count);
  }

  take({ count, scored, drafts }: ScheduledSequence): void {
    this.rows -= count;
    this.#spareSamples -= scored + drafts.length;
  }
}
