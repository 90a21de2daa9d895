import { maxSpareSamples, type SchedulerConfig } from "./scheduler-config.ts";
import type { ScheduledSequence, Sequence } from "../sequence.ts";

/** A step's remaining rows, for prompts and for all, and remaining samples beyond the one of each sequence. */
export class StepBudget {
  rows: number;
  readonly #promptRowsBeside: (drafts: number) => number;
  /** Rows given to drafts, and to prompts. */
  #drafts = 0;
  #promptRows = 0;
  #spareSamples: number;
  readonly #mostRows: number;

  /** @param promptRowsBeside most rows of prompts (sequences more than a token behind), by the step's rows of drafts */
  constructor(rows: number, promptRowsBeside: (drafts: number) => number, config: SchedulerConfig) {
    this.rows = rows;
    this.#promptRowsBeside = promptRowsBeside;
    this.#spareSamples = maxSpareSamples(config);
    this.#mostRows = config.longPrefillTokenThreshold || Infinity;
  }

  get hasRoomForPrompt(): boolean {
    return this.rows > 0 && this.#promptRowsLeft() > 0;
  }

  /**
   * Returns the rows of a sequence's next chunk: at least one, and otherwise no more than leave `keptBack` rows for others.
   * A row that scores the prompt takes a sample, so their number is limited by the spare samples.
   */
  rowsFor(sequence: Sequence, keptBack = 0): number {
    const left = Math.max(1, Math.min(this.rows - keptBack, this.#promptRowsLeft()));
    const rows = Math.min(sequence.numPendingTokens, this.#mostRows, left);
    return Math.min(sequence.numUnscoredTokens, rows) > this.#spareSamples ? this.#spareSamples : rows;
  }

  /** Returns how many drafts a sequence may have after `count` rows, some of which may score its prompt. */
  draftsFor(sequence: Sequence, count: number, keptBack: number): number {
    const scored = Math.min(count, sequence.numUnscoredTokens);
    return Math.min(this.#spareSamples - scored, this.rows - keptBack - count);
  }

  take({ count, samples, scored, drafts }: ScheduledSequence): void {
    const behind = count - drafts.length;
    this.rows -= count;
    if (behind > 1 || !samples) this.#promptRows += behind;
    this.#drafts += drafts.length;
    this.#spareSamples -= scored + drafts.length;
  }

  #promptRowsLeft(): number {
    return this.#promptRowsBeside(this.#drafts) - this.#promptRows;
  }
}
