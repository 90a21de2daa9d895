import { cacheMap } from "../../protocol/cache-map.ts";
import type { KvBlockTokens, KvCacheMap } from "../../protocol/reports.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";

/** Returns the owners and contents of all blocks, from the pool and the block tables of running sequences. */
export function kvCacheMap({ pool, running }: Pick<Scheduler, "pool" | "running">): KvCacheMap {
  const refCounts = Uint16Array.from({ length: pool.numBlocks }, (_, block) => pool.refCount(block));
  return cacheMap({ blockSize: pool.blockSize, refCounts, isCached: (block) => pool.prefixCache.has(block) }, running);
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
