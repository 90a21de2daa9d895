import { describe, expect, it } from "vitest";
import { BlockPool } from "./block-pool.ts";

const TOKENS = [1, 2, 3, 4, 5, 6, 7, 8, 9];

/** A pool of blocks of two tokens, in which the first blocks of TOKENS have been written, published and freed. */
function poolWith(
  numBlocks: number,
  numPublished: number,
  salt: string | null = null,
): { pool: BlockPool; blocks: number[] } {
  const pool = new BlockPool(numBlocks, 2);
  const blocks = pool.allocate(numPublished) ?? [];
  let chain: string | null = null;
  for (const [i, block] of blocks.entries()) ({ chain } = pool.prefixCache.publish(block, TOKENS, i, chain, salt));
  pool.free(blocks);
  pool.assertConsistent([]);
  return { pool, blocks };
}

describe("a free block", () => {
  it("is found again by the chain of its tokens", () => {
    const { pool, blocks } = poolWith(8, 3);
    expect(pool.prefixCache.lookup(TOKENS, null, 10).blocks).toEqual(blocks);
    expect(pool.prefixCache.lookup(TOKENS, null, 2).blocks).toEqual(blocks.slice(0, 2));
    expect(pool.numCached).toBe(3);
  });

  it("is not found by its own tokens behind another beginning", () => {
    const { pool, blocks } = poolWith(8, 3);
    expect(pool.prefixCache.lookup([1, 2, 3, 99, 5, 6], null, 10).blocks).toEqual(blocks.slice(0, 1));
    expect(pool.prefixCache.lookup([3, 4, 5, 6], null, 10).blocks).toEqual([]);
  });

  it("is found by those of the same salt only", () => {
    const { pool, blocks } = poolWith(8, 2, "mine");
    expect(pool.prefixCache.lookup(TOKENS, null, 10).blocks).toEqual([]);
    expect(pool.prefixCache.lookup(TOKENS, "other", 10).blocks).toEqual([]);
    expect(pool.prefixCache.lookup(TOKENS, "mine", 10).blocks).toEqual(blocks);
  });

  it("is not mistaken for one whose salt looks like its name", () => {
    const { pool } = poolWith(8, 2);
    for (const salt of ["#0", "null", '"#0"']) expect(pool.prefixCache.lookup([3, 4], salt, 10).blocks).toEqual([]);
  });

  it("that was free for longest is reused first, a sequence's tail before its head", () => {
    const { pool, blocks } = poolWith(4, 3);
    expect(pool.allocate(2)).toEqual([3, blocks[2]]);
    expect(pool.prefixCache.lookup(TOKENS, null, 10).blocks).toEqual(blocks.slice(0, 2));
    expect(pool.numCached).toBe(2);
    pool.allocate(2);
    expect(pool.prefixCache.lookup(TOKENS, null, 10).blocks).toEqual([]);
  });

  it("can be shared, and is free again when its last owner is gone", () => {
    const { pool, blocks } = poolWith(5, 2);
    const first = pool.allocate(3, blocks) ?? [];
    const second = pool.allocate(3, blocks) ?? [];
    expect([first.slice(0, 2), second.slice(0, 2)]).toEqual([blocks, blocks]);
    pool.assertConsistent([first, second]);
    pool.free(first);
    expect(pool.numFree).toBe(2);
    pool.free(second);
    expect(pool.numFree).toBe(5);
    pool.assertConsistent([]);
  });

  it("counts as taken when a table wants it, so that a table gets all of its blocks or none", () => {
    const { pool, blocks } = poolWith(3, 2);
    expect(pool.allocate(4, blocks)).toBeNull();
    expect([pool.numFree, pool.numCached]).toEqual([3, 2]);
    expect(pool.allocate(3, blocks)).toHaveLength(3);
  });
});

describe("publishing", () => {
  it("keeps the first of two blocks with the same tokens, and lets both go on", () => {
    const pool = new BlockPool(6, 2);
    const [a, b] = [pool.allocate(2) ?? [], pool.allocate(2) ?? []];
    const { prefixCache } = pool;
    const chains = [a, b].map((blocks) => prefixCache.publish(blocks[0] ?? -1, TOKENS, 0, null, null).chain);
    expect(chains[1]).toBe(chains[0]);
    prefixCache.publish(b[1] ?? -1, TOKENS, 1, chains[1] ?? null, null);
    expect(prefixCache.lookup(TOKENS, null, 10).blocks).toEqual([a[0], b[1]]);
  });

  it("gives a block that is offered again behind a new parent that name only", () => {
    const pool = new BlockPool(6, 2);
    const { prefixCache } = pool;
    const [a = -1, b0 = -1, b1 = -1, c = -1] = pool.allocate(4) ?? [];
    const old = prefixCache.publish(a, TOKENS, 0, null, null).chain;
    prefixCache.publish(b0, TOKENS, 0, null, null);
    prefixCache.publish(b1, TOKENS, 1, old, null);
    prefixCache.forget(a);
    // A second owner of b0 and b1 offers them again, and now b0 is the one to be found.
    const { chain } = prefixCache.publish(b0, TOKENS, 0, null, null);
    prefixCache.publish(b1, TOKENS, 1, chain, null);
    expect(prefixCache.lookup(TOKENS, null, 10).blocks).toEqual([b0, b1]);
    // b1 comes to hold something else. Who still knows the old parent must not be led to it.
    prefixCache.forget(b1);
    const other = prefixCache.publish(b1, [9, 9], 0, null, null).chain;
    expect(prefixCache.publish(c, TOKENS, 1, old, null).chain).not.toBe(other);
  });

  it("never leads from a block that was reused to what used to follow it", () => {
    const { pool, blocks } = poolWith(2, 2);
    pool.prefixCache.forget(blocks[0] ?? -1);
    pool.prefixCache.publish(blocks[0] ?? -1, [7, 7], 0, null, null);
    expect(pool.prefixCache.lookup([7, 7, 3, 4], null, 10).blocks).toEqual([blocks[0]]);
  });
});
