import { ChorusError } from "../../protocol/errors.ts";
import { PrefixCache } from "./prefix-cache.ts";
import { StatePool } from "./state-pool.ts";

/**
 * Knows the owners of each block of the paged cache. A block holds the keys and values of blockSize consecutive positions.
 * A sequence finds its blocks through its block table, so they may lie anywhere:
 *
 *   position / blockSize:   0   1   2
 *   sequence.blockTable:  [ 7,  2,  5 ]  ->  rows 7*blockSize.., 2*blockSize.., 5*blockSize.. of the cache
 *
 * A full block may have several owners, since nobody writes to it any more. A free block keeps its contents until it is
 * allocated again; until then the prefix cache can find it by them.
 */
export class BlockPool {
  readonly numBlocks: number;
  readonly blockSize: number;
  readonly #refCounts: Uint32Array;
  /** A Set iterates in insertion order: the block that has been free for longest is allocated first. */
  readonly #free: Set<number>;
  readonly prefixCache: PrefixCache;
  /** States that are kept with blocks. */
  readonly states: StatePool;
  /** Number of free blocks that the prefix cache can find. */
  #numCached = 0;

  constructor(numBlocks: number, blockSize: number, numStateSlots = 0) {
    this.numBlocks = numBlocks;
    this.blockSize = blockSize;
    this.#refCounts = new Uint32Array(numBlocks);
    this.#free = new Set(this.#refCounts.keys());
    this.prefixCache = new PrefixCache(blockSize);
    this.states = new StatePool(numStateSlots);
  }

  get numFree(): number {
    return this.#free.size;
  }

  get numCached(): number {
    return this.#numCached;
  }

  get numUsed(): number {
    return this.numBlocks - this.#free.size;
  }

  /** Returns the number of owners of a block; 0 if it is free. */
  refCount(block: number): number {
    return this.#refCounts[block] ?? 0;
  }

  blocksFor(numTokens: number): number {
    return Math.ceil(numTokens / this.blockSize);
  }

  /**
   * Returns a block table of `count` blocks: the shared blocks, which get one more owner each, then new ones. Returns null
   * and takes nothing if too few blocks are free.
   */
  allocate(count: number, shared: readonly number[] = []): number[] | null {
    const revived = shared.filter((block) => this.#free.has(block));
    if (count - shared.length > this.#free.size - revived.length) return null;
    for (const block of shared) {
      if (this.#free.delete(block) && this.prefixCache.has(block)) this.#numCached -= 1;
      this.#refCounts[block] = (this.#refCounts[block] ?? 0) + 1;
    }
    const blocks = [...shared];
    for (const block of this.#free) {
      if (blocks.length >= count) break;
      this.#free.delete(block);
      if (this.prefixCache.has(block)) this.#numCached -= 1;
      this.prefixCache.forget(block);
      this.states.drop(block);
      this.#refCounts[block] = 1;
      blocks.push(block);
    }
    return blocks;
  }

  /** Takes one owner from each block. Frees the last block first: a sequence's tail is the least useful to others. */
  free(blocks: readonly number[]): void {
    for (const block of blocks.toReversed()) {
      const owners = this.#refCounts[block] ?? 0;
      if (owners === 0) throw new ChorusError("internal_error", `Cache block ${block} was freed, but nobody owns it.`);
      this.#refCounts[block] = owners - 1;
      if (owners > 1) continue;
      this.#free.add(block);
      if (this.prefixCache.has(block)) this.#numCached += 1;
    }
  }

  /** Forgets what blocks hold, so that the prefix cache finds none of them. */
  forgetCached(): void {
    for (let block = 0; block < this.numBlocks; block++) {
      this.prefixCache.forget(block);
      this.states.drop(block);
    }
    this.#numCached = 0;
  }

  /** Throws unless each block is free, or is listed by as many tables as it has owners. */
  assertConsistent(blockTables: Iterable<readonly number[]>): void {
    const cached = [...this.#free].filter((block) => this.prefixCache.has(block)).length;
    if (cached !== this.#numCached) {
      throw new ChorusError(
        "internal_error",
        `${cached} free blocks can be found again, but ${this.#numCached} are counted.`,
      );
    }
    const owners = new Uint32Array(this.numBlocks);
    for (const table of blockTables) {
      for (const block of table) owners[block] = (owners[block] ?? 0) + 1;
    }
    for (const [block, expected] of owners.entries()) {
      const counted = this.#refCounts[block];
      if (counted !== expected || this.#free.has(block) !== (expected === 0)) {
        const where = this.#free.has(block) ? "free" : "used";
        throw new ChorusError(
          "internal_error",
          `Cache block ${block} is ${where} with ${counted} owners counted, and ${expected} block tables list it.`,
        );
      }
    }
  }
}
