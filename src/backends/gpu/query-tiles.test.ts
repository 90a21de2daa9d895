import { describe, expect, it } from "vitest";

import type { KernelStyle } from "./kernel-style.ts";
import { NO_TILES, tileChoices, writeSpans, type QueryTiles } from "./query-tiles.ts";

/** The spans of sequences of [start, number of rows]. */
function spansOf(sequences: readonly (readonly [number, number])[], tiles: Pick<QueryTiles, "rows" | "minStepRows">) {
  const words = new Uint32Array(2 * sequences.reduce((sum, [, count]) => sum + count, 0));
  const planned = sequences.map(([start, numRows], slot) => ({ slot, start, numRows, numScored: 0, numDrawn: 0 }));
  const counts = writeSpans(words, planned, tiles);
  const spans = Array.from({ length: counts.tiles + counts.singles }, (_, i) =>
    Array.from(words.subarray(2 * i, 2 * i + 2)),
  );
  return { tiles: spans.slice(0, counts.tiles), singles: spans.slice(counts.tiles) };
}

const FOURS = { rows: 4, minStepRows: 0 };

describe("the spans of a step", () => {
  it("are its rows, one by one, without tiles", () => {
    const { tiles, singles } = spansOf(
      [
        [0, 3],
        [7, 1],
      ],
      NO_TILES,
    );
    expect(tiles).toEqual([]);
    expect(singles.map(([row]) => row)).toEqual([0, 1, 2, 3]);
    expect(singles.every(([, count]) => count === 1)).toBe(true);
  });

  it("are tiles between multiples of their size, of the positions and not of the rows", () => {
    // Positions 5..7, 8..11, 12 after a decode row.
    const { tiles, singles } = spansOf(
      [
        [30, 1],
        [5, 8],
      ],
      FOURS,
    );
    expect(tiles).toEqual([
      [1, 3],
      [4, 4],
    ]);
    expect(singles).toEqual([
      [0, 1],
      [8, 1],
    ]);
  });

  it("never join two sequences, and leave what is no more than half a tile", () => {
    const { tiles, singles } = spansOf(
      [
        [0, 2],
        [2, 2],
        [4, 2],
        [0, 3],
      ],
      FOURS,
    );
    expect(tiles).toEqual([[6, 3]]);
    expect(singles.map(([row]) => row)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("are tiles only where the step has enough rows", () => {
    const large = { rows: 4, minStepRows: 9 };
    expect(spansOf([[0, 8]], large).tiles).toEqual([]);
    expect(
      spansOf(
        [
          [0, 8],
          [50, 1],
        ],
        large,
      ).tiles,
    ).toHaveLength(2);
  });

  it.each([2, 4, 8])("hold each row once, in tiles of %i", (rows) => {
    const sequences = [
      [3, 29],
      [100, 1],
      [64, 16],
      [1, 2],
    ] as const;
    const { tiles, singles } = spansOf(sequences, { rows, minStepRows: 0 });
    const held = [...tiles, ...singles].flatMap(([first = 0, count = 0]) =>
      Array.from({ length: count }, (_, i) => first + i),
    );
    expect(held.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 48 }, (_, i) => i));
    expect(tiles.every(([, count = 0]) => count > rows / 2 && count <= rows)).toBe(true);
  });
});

describe("the choice of tiles", () => {
  const gpt2 = { numHeads: 12, numKvHeads: 12, headDim: 64 };

  it("has no tiles of eight rows where they would spill registers", () => {
    const rows = (hasFewRegisters: boolean) =>
      tileChoices({ style: "fused", hasSubgroups: true, hasFewRegisters }, gpt2).map((tiles) => tiles.rows);
    expect(rows(false)).toEqual([8, 4, 2, 1]);
    expect(rows(true)).toEqual([4, 2, 1]);
  });

  const rowsOf = (style: KernelStyle, hasSubgroups: boolean, shape = gpt2) =>
    tileChoices({ style, hasSubgroups }, shape).map(({ rows }) => rows);

  it("is a quad's, unless heads fill it", () => {
    expect(rowsOf("plain", true)).toEqual([4]);
    expect(rowsOf("plain", true, { numHeads: 9, numKvHeads: 3, headDim: 64 })).toEqual([4]);
    expect(rowsOf("plain", true, { numHeads: 32, numKvHeads: 8, headDim: 64 })).toEqual([1]);
  });

  it("is as large as a workgroup has room for; GPUs measure smaller ones and none, in steps of many rows", () => {
    expect(rowsOf("plain", false)).toEqual([8]);
    expect(rowsOf("fused", true)).toEqual([8, 4, 2, 1]);
    expect(rowsOf("fused", true, { numHeads: 16, numKvHeads: 8, headDim: 128 })).toEqual([4, 2, 1]);
    expect(rowsOf("fused", true, { numHeads: 1, numKvHeads: 1, headDim: 1024 })).toEqual([1]);
    expect(tileChoices({ style: "fused", hasSubgroups: true }, gpt2)[0].minStepRows).toBe(65);
  });
});
