import type { Sequence } from "../sequence.ts";

/** A sequence that may draft, and how many tokens. */
export interface DraftRequest {
  readonly sequence: Sequence;
  readonly atMost: number;
}

export interface Proposer {
  /** Returns up to `atMost` tokens that may follow a sequence's newest one; null if it did not look for any. */
  propose(sequence: Sequence, atMost: number): readonly number[] | null;
  /** Computes what it will propose for these sequences, in their order of service. [it has nothing to compute] */
  prepare?(requests: readonly DraftRequest[]): Promise<void>;
}
