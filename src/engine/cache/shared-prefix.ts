import type { BlockPool } from "./block-pool.ts";
import type { ScheduledSequence, Sequence } from "../sequence.ts";

/** Blocks that already hold a sequence's first tokens, and the prefix cache's name for the last one, if it has one. */
export interface SharedPrefix {
  readonly blocks: readonly number[];
  readonly chain: string | null;
  /** Number of full blocks with its tokens, of which the last ones may be of no use: no state is kept of them. */
  readonly numKnown: number;
}

/**
 * Returns full blocks with the sequence's first tokens. The last token is never among them: it must be computed to sample
 * the next one. Returns "soon" while the leader computes them, also in this very step: a row can't see keys that another
 * sequence writes in the same step.
 */
export function findSharedPrefix(
  { tokens, leader, numSharedTokens, cacheSalt, numUnscoredTokens }: Sequence,
  pool: BlockPool,
  enablePrefixCaching: boolean,
  step: readonly ScheduledSequence[],
): SharedPrefix | "soon" {
  // Cached tokens have no rows, and so no logits to score the next token with.
  if (numUnscoredTokens > 0) return { blocks: [], chain: null, numKnown: 0 };
  const maxBlocks = Math.floor((tokens.length - 1) / pool.blockSize);
  // A leader may have given back blocks that its rows see no longer.
  const isLed = leader?.isRunning === true && leader.numFreedBlocks === 0;
  const numLed = isLed ? Math.min(maxBlocks, Math.floor(numSharedTokens / pool.blockSize)) : 0;
  const numComputed = step.find(({ sequence }) => sequence === leader)?.start ?? leader?.numComputedTokens ?? 0;
  if (isLed && numComputed < numLed * pool.blockSize) return "soon";
  const found = enablePrefixCaching
    ? pool.prefixCache.lookup(tokens, cacheSalt, maxBlocks)
    : { blocks: [], chain: null };
  const published = upToState(found, pool);
  const led = upToState({ blocks: leader?.blockTable.slice(0, numLed) ?? [], chain: null }, pool);
  return led.blocks.length > published.blocks.length ? led : published;
}

/** Returns the blocks up to the last one whose state is kept; all of them for models that keep none. */
function upToState(prefix: Omit<SharedPrefix, "numKnown">, { states, prefixCache }: BlockPool): SharedPrefix {
  const numKnown = prefix.blocks.length;
  if (states.numSlots === 0) return { ...prefix, numKnown };
  const blocks = prefix.blocks.slice(0, prefix.blocks.findLastIndex((block) => states.has(block)) + 1);
  const last = blocks.at(-1);
  return { blocks, chain: prefix.chain === null || last === undefined ? null : prefixCache.chainOf(last), numKnown };
}
