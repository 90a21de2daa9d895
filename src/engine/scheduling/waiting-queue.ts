import type { SchedulingPolicy } from "../../protocol/config.ts";
import { RANKS, type Rank } from "./policy.ts";
import type { Sequence } from "../core/sequence.ts";

/** Sequences that wait for a slot, in the order of the policy. Arrival decides among equals. */
export class WaitingQueue {
  readonly #rank: Rank;
  /** Under "fcfs" ranks never change and the order of arrival is the queue's own. */
  readonly #isOrdered: boolean;
  /** Order of arrival, which a preempted sequence keeps. */
  readonly #arrivals = new WeakMap<Sequence, number>();
  #sequences: Sequence[] = [];
  /** By rank; null when somebody has come since. While they wait, all ranks rise alike, and so it stays true. */
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

  /** A sequence that arrives, or comes back: then its place is by its first arrival. */
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

  /** All that wait, as the policy orders them in this step; a snapshot. Their ranks are brought up to date. */
  inOrder(step: number): Sequence[] {
    this.#bringUpToDate(step);
    return [...this.#ordered()];
  }

  /** The first requests in the order of the policy, each once. */
  firstRequestIds(step: number, most: number): string[] {
    if (this.#byRank === null && !this.#isOrdered) this.#bringUpToDate(step);
    const ids = new Set<string>();
    for (const { requestId } of this.#ordered()) {
      if (ids.size === most) break;
      ids.add(requestId);
    }
    return [...ids];
  }

  /** By rank, then by arrival: also the order of those that run. */
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
