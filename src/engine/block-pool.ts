import { ChorusError } from "../protocol/errors.ts";

/**
 * Who owns which block of the paged cache. A block holds the keys and values of blockSize consecutive positions; a
 * sequence finds its blocks through its block table, so they may lie anywhere:
 *
 *   position / blockSize:   0   1   2
 *   sequence.blockTable:  [ 7,  2,  5 ]  ->  rows 7*blockSize.., 2*blockSize.., 5*blockSize.. of the cache
 */
export class BlockPool {
  readonly numBlocks: number;
  readonly blockSize: number;
  /** Owners of each block. */
  readonly #refCounts: Uint32Array;
  /** A Set iterates in insertion order: the block that has been free for longest is handed out first. */
  readonly #free: Set<number>;

  constructor(numBlocks: number, blockSize: number) {
    this.numBlocks = numBlocks;
    this.blockSize = blockSize;
    this.#refCounts = new Uint32Array(numBlocks);
    this.#free = new Set(this.#refCounts.keys());
  }

  get numFree(): number {
    return this.#free.size;
  }

  get numUsed(): number {
    return this.numBlocks - this.#free.size;
  }

  /** How many blocks that many tokens fill. */
  blocksFor(numTokens: number): number {
    return Math.ceil(numTokens / this.blockSize);
  }

  /** All of the blocks asked for, each with one owner, or null and nothing taken. */
  allocate(count: number): number[] | null {
    if (count > this.#free.size) return null;
    const blocks: number[] = [];
    for (const block of this.#free) {
      if (blocks.length === count) break;
      this.#free.delete(block);
      this.#refCounts[block] = 1;
      blocks.push(block);
    }
    return blocks;
  }

  /** One owner fewer for each. The last block goes first: a sequence's tail is of the least use to others. */
  free(blocks: readonly number[]): void {
    for (const block of blocks.toReversed()) {
      const owners = this.#refCounts[block] ?? 0;
      if (owners === 0) throw new ChorusError("internal_error", `Cache block ${block} was freed, but nobody owns it.`);
      this.#refCounts[block] = owners - 1;
      if (owners === 1) this.#free.add(block);
    }
  }

  /** Throws unless each block is free and unowned, or has as many owners as there are tables that list it. */
  assertConsistent(blockTables: Iterable<readonly number[]>): void {
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
