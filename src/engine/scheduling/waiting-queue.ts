import type { SchedulingPolicy } from "../../protocol/config.ts";
import type { Sequence } from "../sequence.ts";
import { POLICIES, type Batch } from "./policy.ts";
import type { RemainingSteps } from "./remaining-steps.ts";

/** Sequences that wait for a slot, in the policy's order. Equals come in order of arrival. */
export class WaitingQueue {
  #policy: (typeof POLICIES)[SchedulingPolicy];
  readonly #remainingSteps: RemainingSteps;
  /** Steps until the batch ends, when the queue was last sorted. */
  #longestSteps = Infinity;
  /** Order of arrival, which a preempted sequence keeps. */
  readonly #arrivals = new WeakMap<Sequence, number>();
  #sequences: Sequence[] = [];
  /** Sorted by rank; null if the order may have changed. */
  #byRank: Sequence[] | null = null;
  #nextArrival = 0;

  constructor(policy: SchedulingPolicy, remainingSteps: RemainingSteps) {
    this.#policy = POLICIES[policy];
    this.#remainingSteps = remainingSteps;
  }

  /** Follows another policy: all sequences are ranked again, by what they have waited so far. */
  usePolicy(policy: SchedulingPolicy, running: readonly Sequence[]): void {
    if (POLICIES[policy] === this.#policy) return;
    this.#policy = POLICIES[policy];
    this.#byRank = null;
    for (const sequence of running) sequence.rerank(this.#rank);
  }

  get length(): number {
    return this.#sequences.length;
  }

  [Symbol.iterator](): Iterator<Sequence> {
    return this.#sequences[Symbol.iterator]();
  }

  /** Adds a sequence. One that comes back keeps the place of its first arrival. */
  add(sequence: Sequence, step: number): void {
    sequence.queue(step);
    this.#byRank = null;
    const known = this.#arrivals.get(sequence);
    if (known === undefined) {
      this.#arrivals.set(sequence, this.#nextArrival++);
      this.#sequences.push(sequence);
      return;
    }
    const after = this.#sequences.findIndex((other) => this.#arrivalOf(other) > known);
    this.#sequences.splice(after === -1 ? this.#sequences.length : after, 0, sequence);
  }

  remove(sequence: Sequence): void {
    for (const order of [this.#sequences, this.#byRank ?? []]) {
      const index = order.indexOf(sequence);
      if (index >= 0) order.splice(index, 1);
    }
  }

  /** Updates all ranks and returns a snapshot of the queue in the policy's order. */
  inOrder(step: number, running: readonly Sequence[]): Sequence[] {
    if (this.#policy.changes === "by steps") this.#longestSteps = this.#longestOf(running, step);
    this.#bringUpToDate(step);
    // The order before is nearly right, so sorting takes a single pass.
    if (this.#policy.changes === "by steps") this.#byRank?.sort((a, b) => this.#compare(a, b));
    return [...this.#ordered()];
  }

  /** Returns the first `count` requests in the policy's order, each once. */
  firstRequestIds(step: number, count: number): string[] {
    if (this.#byRank === null && this.#policy.changes !== "never") this.#bringUpToDate(step);
    const ids = new Set<string>();
    for (const { requestId } of this.#ordered()) {
      if (ids.size === count) break;
      ids.add(requestId);
    }
    return [...ids];
  }

  /** The order in which running sequences are served. */
  compareRunning(a: Sequence, b: Sequence): number {
    return this.#policy.running === "by arrival" ? this.#arrivalOf(a) - this.#arrivalOf(b) : this.#compare(a, b);
  }

  /** Orders by rank, then by arrival. */
  #compare(a: Sequence, b: Sequence): number {
    return a.rank - b.rank || this.#arrivalOf(a) - this.#arrivalOf(b);
  }

  #ordered(): readonly Sequence[] {
    if (this.#policy.changes === "never") return this.#sequences;
    return (this.#byRank ??= this.#sequences.toSorted((a, b) => this.#compare(a, b)));
  }

  #bringUpToDate(step: number): void {
    for (const sequence of this.#sequences) sequence.age(step, this.#rank);
  }

  readonly #rank = (sequence: Sequence, waitedSteps: number): number => {
    const batch: Batch = { remainingSteps: this.#remainingSteps, longestSteps: this.#longestSteps };
    return this.#policy.rank(sequence, waitedSteps, batch);
  };

  /** Returns the steps until the batch ends. Without a batch it is the first sequence's: the others are to match it. */
  #longestOf(running: readonly Sequence[], step: number): number {
    if (running.length > 0) return Math.max(...running.map((sequence) => this.#remainingSteps.of(sequence)));
    this.#longestSteps = Infinity;
    this.#bringUpToDate(step);
    const [first, ...others] = this.#sequences;
    if (first === undefined) return Infinity;
    const leader = others.reduce((best, sequence) => (this.#compare(sequence, best) < 0 ? sequence : best), first);
    return this.#remainingSteps.of(leader);
  }

  #arrivalOf(sequence: Sequence): number {
    return this.#arrivals.get(sequence) ?? this.#nextArrival;
  }
}
