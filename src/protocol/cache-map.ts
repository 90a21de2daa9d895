import { KV_BLOCK_STATES, type KvCacheMap, type SequenceId } from "./reports.ts";

interface CacheBlocks {
  readonly blockSize: number;
  /** Number of sequences that have each block. */
  readonly refCounts: Uint16Array;
  /** Whether the prefix cache has a block that no sequence has. */
  readonly isCached: (block: number) => boolean;
}

interface BlockHolder extends SequenceId {
  readonly blockTable: readonly number[];
  /** Number of blocks at its beginning that were given back. */
  readonly numFreedBlocks: number;
  readonly numComputedTokens: number;
}

/** Returns the owners and contents of all blocks. */
export function cacheMap({ blockSize, refCounts, isCached }: CacheBlocks, holders: readonly BlockHolder[]): KvCacheMap {
  const states = new Uint8Array(refCounts.length);
  const owners = new Int32Array(refCounts.length).fill(-1);
  const filledTokens = new Uint8Array(refCounts.length);
  for (const [block, numOwners] of refCounts.entries()) {
    const state = numOwners > 0 ? "used" : isCached(block) ? "cached" : "free";
    states[block] = KV_BLOCK_STATES.indexOf(state);
    if (state === "cached") filledTokens[block] = blockSize; // only full blocks are kept
  }
  for (const [owner, { blockTable, numFreedBlocks, numComputedTokens }] of holders.entries()) {
    for (const [index, block] of blockTable.entries()) {
      // It was given back, or it is shared and therefore full.
      if (index < numFreedBlocks || owners[block] !== -1) continue;
      owners[block] = owner;
      filledTokens[block] = Math.max(0, Math.min(blockSize, numComputedTokens - index * blockSize));
    }
  }
  const sequences = holders.map(({ requestId, index }) => ({ requestId, index }));
  return { blockSize, states, refCounts, owners, filledTokens, sequences };
}
