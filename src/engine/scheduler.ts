import type { ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { FinishReason } from "../protocol/openai.ts";
import { BlockPool } from "./block-pool.ts";
import type { ScheduledSequence } from "./runner.ts";
import type { Sequence } from "./sequence.ts";

export type SchedulerConfig = Pick<
  ResolvedEngineConfig,
  "maxNumSeqs" | "maxNumBatchedTokens" | "blockSize" | "numGpuBlocks"
>;

/**
 * Decides who computes what in each step, by one rule:
 *
 *   A step gives rows to sequences, under a token budget, so that numComputedTokens catches up with tokens.length.
 *
 * There is no prefill phase and no decode phase. A new prompt is many tokens behind, a sequence that generates is one
 * behind, one that was preempted is behind by all it has; all get rows of the same batch, as many as they need and the
 * budget has left. Whoever has caught up samples its next token, and so is one behind again.
 *
 * Running sequences are served first, then waiting ones. Running followed by waiting is always in order of arrival: the
 * queue is served from its head, and who gives way is the last of the running and returns to that head. So the oldest
 * sequence makes progress in every step, and nobody starves.
 */
export class Scheduler {
  readonly pool: BlockPool;
  readonly #maxNumBatchedTokens: number;
  readonly #running: Sequence[] = [];
  readonly #waiting: Sequence[] = [];
  readonly #freeSlots: number[];
  #numPreemptions = 0;

  constructor(config: SchedulerConfig) {
    this.pool = new BlockPool(config.numGpuBlocks, config.blockSize);
    this.#maxNumBatchedTokens = config.maxNumBatchedTokens;
    this.#freeSlots = Array.from({ length: config.maxNumSeqs }, (_, slot) => slot).reverse();
  }

  get numRunning(): number {
    return this.#running.length;
  }

  get numWaiting(): number {
    return this.#waiting.length;
  }

  /** How often a sequence has had to give its blocks up, since start. */
  get numPreemptions(): number {
    return this.#numPreemptions;
  }

  /** Queues a sequence. It must be able to fit into an empty pool: see admission.ts. */
  add(sequence: Sequence): void {
    this.#waiting.push(sequence);
  }

  /**
   * Plans the next step and counts its rows as computed, so that another step can be planned while this one runs.
   *
   * A waiting sequence is admitted only when all its tokens fit, not just the first chunk, and only in a step that
   * preempted nobody; else two that don't fit together would take turns throwing each other out.
   */
  schedule(): ScheduledSequence[] {
    const step: ScheduledSequence[] = [];
    const preemptionsBefore = this.#numPreemptions;
    let budget = this.#maxNumBatchedTokens;

    for (const sequence of this.#running) {
      if (budget === 0) break;
      if (sequence.numPendingTokens === 0) continue; // its next token is still being computed
      if (!this.#makeRoom(sequence)) break;
      budget -= this.#give(sequence, budget, step);
    }

    while (budget > 0 && this.#numPreemptions === preemptionsBefore) {
      const sequence = this.#admitNext();
      if (sequence === null) break;
      budget -= this.#give(sequence, budget, step);
    }
    return step;
  }

  /** Ends a sequence, whatever its state; the second time nothing happens. */
  finish(sequence: Sequence, reason: FinishReason): void {
    if (sequence.isFinished) return;
    const queue = sequence.status.state === "running" ? this.#running : this.#waiting;
    queue.splice(queue.indexOf(sequence), 1);
    this.#release(sequence);
    sequence.status = { state: "finished", reason };
  }

  /** Throws unless every block and slot has exactly the owner it should have. */
  assertConsistent(): void {
    this.pool.assertConsistent([...this.#running, ...this.#waiting].map((sequence) => sequence.blockTable));
    const slots = new Set([...this.#freeSlots, ...this.#running.map((sequence) => sequence.slot)]);
    const leaked = this.#waiting.some((sequence) => sequence.slot !== null || sequence.blockTable.length > 0);
    if (leaked || slots.has(null) || slots.size !== this.#freeSlots.length + this.#running.length) {
      throw new ChorusError("internal_error", "A sequence that waits holds a slot, or two sequences hold the same.");
    }
  }

  /** Gives a sequence its next rows, at most `budget`, and returns how many. */
  #give(sequence: Sequence, budget: number, step: ScheduledSequence[]): number {
    const start = sequence.numComputedTokens;
    const count = Math.min(sequence.numPendingTokens, budget);
    sequence.numComputedTokens += count;
    step.push({ sequence, start, count, samples: sequence.numPendingTokens === 0 });
    return count;
  }

  /** Starts the head of the queue; null when nobody waits or it doesn't fit. */
  #admitNext(): Sequence | null {
    const sequence = this.#waiting[0];
    const slot = this.#freeSlots.at(-1);
    if (sequence === undefined || slot === undefined) return null;
    if (!this.#allocate(sequence)) {
      if (this.#running.length > 0) return null;
      throw new ChorusError(
        "internal_error",
        `A sequence of ${sequence.tokens.length} tokens can never fit the cache.`,
      );
    }
    this.#waiting.shift();
    this.#freeSlots.pop();
    this.#running.push(sequence);
    sequence.status = { state: "running" };
    sequence.slot = slot;
    return sequence;
  }

  /**
   * Blocks for all of a sequence's tokens, taken from the youngest while the pool is dry. False when the sequence was
   * itself the youngest and had to give way. The victim is never one that has rows in this step already: running
   * sequences are served in the order in which they came, and the youngest is the last of them.
   */
  #makeRoom(sequence: Sequence): boolean {
    while (!this.#allocate(sequence)) {
      const youngest = this.#running.at(-1) ?? sequence;
      this.#preempt(youngest);
      if (youngest === sequence) return false;
    }
    return true;
  }

  #allocate(sequence: Sequence): boolean {
    const missing = this.pool.blocksFor(sequence.tokens.length) - sequence.blockTable.length;
    const blocks = this.pool.allocate(missing);
    if (blocks === null) return false;
    sequence.blockTable.push(...blocks);
    return true;
  }

  /** Preemption by recomputation: the sequence keeps its tokens only, and is the next to be admitted. */
  #preempt(sequence: Sequence): void {
    this.#running.pop();
    this.#release(sequence);
    sequence.status = { state: "waiting" };
    this.#waiting.unshift(sequence);
    this.#numPreemptions += 1;
  }

  /** The only place that takes blocks and slot from a sequence. */
  #release(sequence: Sequence): void {
    this.pool.free(sequence.blockTable);
    sequence.blockTable = [];
    if (sequence.slot !== null) this.#freeSlots.push(sequence.slot);
    sequence.slot = null;
    sequence.numComputedTokens = 0;
  }
}
