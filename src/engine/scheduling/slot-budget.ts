import type { Sequence, SequenceGroup } from "../core/sequence.ts";

/**
 * Slots in a plan. A group's beams come one after the other, but there must be slots for all of them from its beginning,
 * or groups would wait for each other. So a group that runs holds as many as it has beams, and its beams always have room.
 */
export class SlotBudget {
  readonly #groups: Set<SequenceGroup>;
  #spare: number;
  /** Nobody else runs: then one may begin, however low the limit is. */
  #isIdle: boolean;

  constructor(running: readonly Sequence[], maxNumSeqs: number) {
    this.#groups = new Set(running.flatMap(({ group }) => group ?? []));
    const numAlone = running.filter(({ group }) => group === null).length;
    this.#spare = [...this.#groups].reduce((left, { numBeams }) => left - numBeams, maxNumSeqs - numAlone);
    this.#isIdle = running.length === 0;
  }

  /** No room for anybody. */
  get isSpent(): boolean {
    return this.#spare <= 0 && this.#groups.size === 0 && !this.#isIdle;
  }

  /** Whether a sequence belongs to a group that runs, whose other beams wait for it. */
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
