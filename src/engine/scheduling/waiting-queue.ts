import type { SchedulingPolicy } from "../../protocol/config.ts";
import { RANKS, type Rank } from "./policy.ts";
import type { Sequence } from "../core/sequence.ts";

/** Sequences that wait for a slot, in the policy's order. Equals come in order of arrival. */
export class WaitingQueue {
  readonly #rank: Rank;
  /** Under "fcfs" ranks never change, and the queue is in order of arrival already. */
  readonly #isOrdered: boolean;
  /** Order of arrival, which a preempted sequence keeps. */
  readonly #arrivals = new WeakMap<Sequence, number>();
  #sequences: Sequence[] = [];
  /** Sorted by rank; null after an arrival. It stays sorted, since all waiting sequences gain the same each step. */
  #byRank: Sequence[] | null = null;
  #nextArrival = 0;

  constructor(policy: SchedulingPolicy) {
    this.#rank = RANKS[policy];
    this.#isOrdered = policy === "fcfs";
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
  inOrder(step: number): Sequence[] {
    this.#bringUpToDate(step);
    return [...this.#ordered()];
  }

  /** Returns the first requests in the policy's order, each once. */
  firstRequestIds(step: number, most: number): string[] {
    if (this.#byRank === null && !this.#isOrdered) this.#bringUpToDate(step);
    const ids = new Set<string>();
    for (const { requestId } of this.#ordered()) {
      if (ids.size === most) break;
      ids.add(requestId);
    }
    return [...ids];
  }

  /** Orders by rank, then by arrival. Running sequences have the same order. */
  compare(a: Sequence, b: Sequence): number {
    return a.rank - b.rank || this.#arrivalOf(a) - this.#arrivalOf(b);
  }

  #ordered(): readonly Sequence[] {
    if (this.#isOrdered) return this.#sequences;
    return (this.#byRank ??= this.#sequences.toSorted((a, b) => this.compare(a, b)));
  }

  #bringUpToDate(step: number): void {
    for (const sequence of this.#sequences) sequence.age(step, this.#rank);
  }

  #arrivalOf(sequence: Sequence): number {
    return this.#arrivals.get(sequence) ?? this.#nextArrival;
  }
}
