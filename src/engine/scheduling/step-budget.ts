import { maxSpareSamples, type SchedulerConfig } from "./scheduler-config.ts";
import type { ScheduledSequence, Sequence } from "../core/sequence.ts";

/** What a step has left to give: rows, and samples besides the one that every sequence may draw. */
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
   * Rows for a sequence's next chunk: at least one, and besides that only what leaves `keptBack` rows for others. Rows that
   * score the prompt take a sample each: where there are no samples left, there are no such rows either.
   */
  rowsFor(sequence: Sequence, keptBack = 0): number {
    const rows = Math.min(sequence.numPendingTokens, this.#mostRows, Math.max(1, this.rows - keptBack));
    return Math.min(sequence.numUnscoredTokens, rows) > this.#spareSamples ? this.#spareSamples : rows;
  }

  /** Drafts that a sequence may have behind `count` rows. */
  draftsFor(count: number, keptBack: number): number {
    return Math.min(this.#spareSamples, this.rows - keptBack - count);
  }

  take({ count, scored, drafts }: ScheduledSequence): void {
    this.rows -= count;
    this.#spareSamples -= scored + drafts.length;
  }
}
