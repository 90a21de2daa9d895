import type { Sequence, SequenceGroup } from "../sequence.ts";

/**
 * Counts free slots during a plan. Beams join their group one by one, but the group reserves slots for all of them when it
 * starts, or else groups would wait for each other for ever.
 */
export class SlotBudget {
  readonly #groups: Set<SequenceGroup>;
  #spare: number;
  /** Whether nothing runs: then one sequence may start, however low the limit is. */
  #isIdle: boolean;

  constructor(running: readonly Sequence[], maxNumSeqs: number) {
    this.#groups = new Set(running.flatMap(({ group }) => group ?? []));
    const numAlone = running.filter(({ group }) => group === null).length;
    this.#spare = [...this.#groups].reduce((left, { numBeams }) => left - numBeams, maxNumSeqs - numAlone);
    this.#isIdle = running.length === 0;
  }

  /** Whether no sequence has room. */
  get isSpent(): boolean {
    return this.#spare <= 0 && this.#groups.size === 0 && !this.#isIdle;
  }

  /** Whether a sequence belongs to a running group, whose other beams wait for it. */
  isAwaited({ group }: Sequence): boolean {
    return group !== null && this.#groups.has(group);
  }

  hasRoomFor(sequence: Sequence): boolean {
    return this.#isIdle || this.isAwaited(sequence) || (sequence.group?.numBeams ?? 1) <= this.#spare;
  }

  take(sequence: Sequence): void {
    if (!this.isAwaited(sequence)) this.#spare -= sequence.group?.numBeams ?? 1;
    if (sequence.group !== null) this.#groups.add(sequence.group);
    this.#isIdle = false;
  }
}
