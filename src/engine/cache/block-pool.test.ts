import { describe, expect, it } from "vitest";
import { BlockPool } from "./block-pool.ts";

describe("BlockPool", () => {
  it("hands out each block once", () => {
    const pool = new BlockPool(5, 16);
    const blocks = [...(pool.allocate(2) ?? []), ...(pool.allocate(3) ?? [])];
    expect(blocks.toSorted()).toEqual([0, 1, 2, 3, 4]);
    expect([pool.numFree, pool.numUsed]).toEqual([0, 5]);
  });

  it("gives all of the requested blocks or none", () => {
    const pool = new BlockPool(3, 16);
    expect(pool.allocate(4)).toBeNull();
    expect(pool.numFree).toBe(3);
    expect(pool.allocate(0)).toEqual([]);
  });

  it("reuses first what has been free for longest, and of one sequence its tail", () => {
    const pool = new BlockPool(4, 16);
    const [a, b] = [pool.allocate(2) ?? [], pool.allocate(2) ?? []];
    pool.free(b);
    pool.free(a);
    expect(pool.allocate(4)).toEqual([b[1], b[0], a[1], a[0]]);
  });

  it("refuses to free a block twice", () => {
    const pool = new BlockPool(2, 16);
    const blocks = pool.allocate(1) ?? [];
    pool.free(blocks);
    expect(() => pool.free(blocks)).toThrow("nobody owns it");
  });

  it.each([
    [0, 0],
    [1, 1],
    [15, 1],
    [16, 1],
    [17, 2],
    [32, 2],
    [33, 3],
  ])("counts the blocks of %i tokens as %i", (tokens, blocks) => {
    expect(new BlockPool(8, 16).blocksFor(tokens)).toBe(blocks);
  });

  it("is consistent when the tables list exactly what is used", () => {
    const pool = new BlockPool(4, 16);
    const table = pool.allocate(3) ?? [];
    expect(() => pool.assertConsistent([table])).not.toThrow();
  });

  it("notices a block that is used but in no table", () => {
    const pool = new BlockPool(4, 16);
    pool.allocate(1);
    expect(() => pool.assertConsistent([])).toThrow("used with 1 owners counted, and 0 block tables");
  });

  it("notices a block with two owners if it knows only one of them", () => {
    const pool = new BlockPool(4, 16);
    const table = pool.allocate(1) ?? [];
    expect(() => pool.assertConsistent([table, table])).toThrow("2 block tables");
  });

  it("notices a table that lists a free block", () => {
    const pool = new BlockPool(4, 16);
    expect(() => pool.assertConsistent([[3]])).toThrow("Cache block 3 is free");
  });
});
