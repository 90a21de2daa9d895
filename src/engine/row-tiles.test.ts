import { describe, expect, it } from "vitest";

import { tiledDown, tiledUp } from "./row-tiles.ts";

describe("rows in tiles", () => {
  const TILES = [
    { maxRows: 1, tileRows: 1 },
    { maxRows: 4, tileRows: 4 },
    { maxRows: Infinity, tileRows: 8 },
  ];

  it.each([
    [1, 1, 1],
    [2, 1, 4],
    [4, 4, 4],
    [5, 4, 8],
    [8, 8, 8],
    [9, 8, 16],
    [23, 16, 24],
  ])("%d are between %d and %d", (rows, down, up) => {
    expect([tiledDown(rows, TILES), tiledUp(rows, TILES)]).toEqual([down, up]);
  });

  it("are what they are without tiles", () => {
    expect([tiledDown(11, []), tiledUp(11, [])]).toEqual([11, 11]);
  });

  it("end with their kernel, whose last tile may be cut", () => {
    const cut = [
      { maxRows: 6, tileRows: 4 },
      { maxRows: Infinity, tileRows: 16 },
    ];
    expect([tiledDown(5, cut), tiledUp(5, cut), tiledDown(7, cut), tiledUp(7, cut)]).toEqual([4, 6, 6, 16]);
  });
});
