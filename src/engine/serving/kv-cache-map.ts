import { KV_BLOCK_STATES, type KvBlockTokens, type KvCacheMap } from "../../protocol/reports.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";

/** Returns the owners and contents of all blocks, from the pool and the block tables of running sequences. */
export function kvCacheMap({ pool, running }: Pick<Scheduler, "pool" | "running">): KvCacheMap {
  const { numBlocks, blockSize } = pool;
  const states = new Uint8Array(numBlocks);
  const refCounts = new Uint16Array(numBlocks);
  const owners = new Int32Array(numBlocks).fill(-1);
  const filledTokens = new Uint8Array(numBlocks);
  for (const block of states.keys()) {
    const numOwners = pool.refCount(block);
    const isCached = numOwners === 0 && pool.prefixCache.has(block);
    refCounts[block] = numOwners;
    states[block] = KV_BLOCK_STATES.indexOf(numOwners > 0 ? "used" : isCached ? "cached" : "free");
    if (isCached) filledTokens[block] = blockSize; // only full blocks are published
  }
  for (const [owner, { blockTable, numFreedBlocks, numComputedTokens }] of running.entries()) {
    for (const [index, block] of blockTable.entries()) {
      // It was given back, or it is shared and therefore full.
      if (index < numFreedBlocks || owners[block] !== -1) continue;
      owners[block] = owner;
      filledTokens[block] = Math.max(0, Math.min(blockSize, numComputedTokens - index * blockSize));
    }
  }
  return {
    blockSize,
    states,
    refCounts,
    owners,
    filledTokens,
    sequences: running.map(({ requestId, index }) => ({ requestId, index })),
  };
}

/** Returns the tokens in one block: of the sequence that has it, or of the prefix cache. */
export function kvBlockTokens({ pool, running }: Pick<Scheduler, "pool" | "running">, block: number): KvBlockTokens {
  for (const { requestId, index, tokens, blockTable, numFreedBlocks, numComputedTokens } of running) {
    const place = blockTable.indexOf(block, numFreedBlocks);
    if (place < 0) continue;
    const start = place * pool.blockSize;
    const end = Math.min(start + pool.blockSize, numComputedTokens);
    return { tokenIds: tokens.slice(start, end), sequence: { requestId, index }, start };
  }
  return { tokenIds: pool.prefixCache.tokensOf(block), sequence: null, start: null };
}
