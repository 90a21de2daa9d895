// Kernels compute rows in tiles: a step of nine rows takes as long as one of sixteen where a tile has eight.

/** Kernels for steps of up to `maxRows` rows, which compute `tileRows` at a time. */
export interface RowTile {
  readonly maxRows: number;
  readonly tileRows: number;
}

/** By ascending maxRows, the last one without a limit. Empty: each row costs its own time. */
export type RowTiles = readonly RowTile[];

/** Returns the most rows, at least as many as these, that a step computes in the same time. */
export function tiledUp(rows: number, tiles: RowTiles): number {
  const tile = tiles.find(({ maxRows }) => rows <= maxRows);
  return tile === undefined ? rows : Math.min(tile.maxRows, tile.tileRows * Math.ceil(rows / tile.tileRows));
}

/** Returns the most rows, at most as many as these, whose tiles are all full. */
export function tiledDown(rows: number, tiles: RowTiles): number {
  const index = tiles.findIndex(({ maxRows }) => rows <= maxRows);
  const tile = tiles[index];
  if (tile === undefined || rows === tile.maxRows) return rows;
  return Math.max(tiles[index - 1]?.maxRows ?? 0, tile.tileRows * Math.floor(rows / tile.tileRows));
}
