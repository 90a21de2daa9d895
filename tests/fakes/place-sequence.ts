import type { Sequence } from "../../src/engine/sequence.ts";

/** Lets a sequence run in that slot, on those blocks, as the scheduler would. Returns it. */
export function placeSequence(
  sequence: Sequence,
  slot: number,
  blocks: readonly number[],
  numCachedTokens = 0,
): Sequence {
  sequence.admit({ slot, blocks: [...blocks], numCachedTokens, numPublishedBlocks: 0, publishedChain: null });
  return sequence;
}
