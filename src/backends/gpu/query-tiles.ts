// Groups rows of a step for attention, so that they share each load of a key and of a value.

import type { PlannedSequence } from "../../engine/step-plan.ts";
import { paddedHeadDim, type ModelShape } from "../../protocol/model-shape.ts";
import { MAX_SPLIT_ROWS, MAX_QUAD_QUERIES, mostQueries, quadShares, usesQuads } from "./kernels/attention.ts";
import type { KernelTraits } from "./kernel-style.ts";

/** How an adapter's attention tiles the rows of prompts. Its kernels give the same bits whatever is tiled. */
export interface QueryTiles {
  /** Identifies it in the tuning store. */
  readonly name: string;
  /** Most rows of a tile, a power of two; 1: no tiles. */
  readonly rows: number;
  /** Steps with fewer rows have no tiles. */
  readonly minStepRows: number;
}

export const NO_TILES: QueryTiles = tilesOf(1, 0);

function tilesOf(rows: number, minStepRows: number): QueryTiles {
  return { name: rows > 1 ? `tiles of ${rows} rows` : "row by row", rows, minStepRows };
}

/**
 * Returns the candidates, the default first; one with `rows` of 1 means no tiles. Tiles don't pay where heads already share
 * as many loads as a quad can. GPUs need many rows: a small prompt in tiles would leave most of a GPU idle.
 */
export function tileChoices(
  traits: KernelTraits,
  shape: Pick<ModelShape, "numHeads" | "numKvHeads" | "headDim">,
): readonly [QueryTiles, ...QueryTiles[]] {
  const isPlain = traits.style === "plain";
  const headVec4 = paddedHeadDim(shape) / 4;
  if (isPlain && usesQuads(traits, headVec4)) {
    const isFull = quadShares(shape.numHeads, shape.numKvHeads).QUERIES === MAX_QUAD_QUERIES;
    return [isFull ? NO_TILES : tilesOf(MAX_QUAD_QUERIES, 0)];
  }
  const most = mostQueries(headVec4, traits.hasFewRegisters);
  const minStepRows = isPlain ? 0 : MAX_SPLIT_ROWS + 1;
  const [first = NO_TILES, ...others] = [8, 4, 2]
    .filter((rows) => rows <= most)
    .map((rows) => tilesOf(rows, minStepRows));
  return isPlain || first === NO_TILES ? [first] : [first, ...others, NO_TILES];
}

/** Words of a span: its first row and their number. As in shaders/lib/step.wgsl. */
export const SPAN_WORDS = 2;

/**
 * Writes a step's spans, the tiles first. A tile holds rows of one sequence between two multiples of `tiles.rows`: so the
 * rows of a small tile see the same last tile of keys, wherever the sequence began. There is no tile for rows that would at
 * most half fill it: it would cost more than its rows one by one.
 */
export function writeSpans(
  words: Uint32Array<ArrayBuffer>,
  sequences: readonly PlannedSequence[],
  { rows: tileRows, minStepRows }: Pick<QueryTiles, "rows" | "minStepRows">,
) {
  let stepRows = 0;
  for (const { numRows } of sequences) stepRows += numRows;
  const isTile = (count: number) => stepRows >= minStepRows && count > Math.max(1, tileRows / 2);
  let spans = 0;
  const push = (firstRow: number, count: number) => {
    words[SPAN_WORDS * spans] = firstRow;
    words[SPAN_WORDS * spans + 1] = count;
    spans++;
  };
  const deal = (take: (firstRow: number, count: number) => void) => {
    let row = 0;
    for (const { start, numRows } of sequences) {
      for (let position = start; position < start + numRows;) {
        const next = Math.min(start + numRows, position - (position % tileRows) + tileRows);
        take(row, next - position);
        row += next - position;
        position = next;
      }
    }
  };
  deal((firstRow, count) => {
    if (isTile(count)) push(firstRow, count);
  });
  const tiles = spans;
  deal((firstRow, count) => {
    if (!isTile(count)) for (let i = 0; i < count; i++) push(firstRow + i, 1);
  });
  return { tiles, singles: spans - tiles };
}
