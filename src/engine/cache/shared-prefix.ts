import type { BlockPool } from "./block-pool.ts";
import type { ScheduledSequence, Sequence } from "../core/sequence.ts";

/** Blocks that hold a sequence's first tokens already, and the last one's name in the prefix cache if it is there. */
export interface SharedPrefix {
  readonly blocks: readonly number[];
  readonly chain: string | null;
}

/**
 * Full blocks with the sequence's first tokens, short of the last token, which must be computed to sample the next.
 * "soon": its leader is computing them. In this step counts as soon: a row sees keys of its own sequence's rows only.
 */
export function findSharedPrefix(
  { tokens, leader, numSharedTokens, cacheSalt, numUnscoredTokens }: Sequence,
  pool: BlockPool,
  enablePrefixCaching: boolean,
  step: readonly ScheduledSequence[],
): SharedPrefix | "soon" {
  // What is found in the cache has no rows, and so no logits that would say how likely the next token was.
  if (numUnscoredTokens > 0) return { blocks: [], chain: null };
  const maxBlocks = Math.floor((tokens.length - 1) / pool.blockSize);
  const isLed = leader?.status.state === "running";
  const numLed = isLed ? Math.min(maxBlocks, Math.floor(numSharedTokens / pool.blockSize)) : 0;
  const numComputed = step.find(({ sequence }) => sequence === leader)?.start ?? leader?.numComputedTokens ?? 0;
  if (isLed && numComputed < numLed * pool.blockSize) return "soon";
  const found = enablePrefixCaching
    ? pool.prefixCache.lookup(tokens, cacheSalt, maxBlocks)
    : { blocks: [], chain: null };
  return isLed && numLed > found.blocks.length ? { blocks: leader.blockTable.slice(0, numLed), chain: null } : found;
}
