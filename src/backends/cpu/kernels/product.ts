// y[r, n] = epilogue(sum over k of x[r, k] w[k, n] + bias[n])      x: [rows, K], w: panels of [K, N], y: [rows, N]
//
// After a gate y has half as many columns: see epilogues.ts.
//
// Columns come in groups of 32. The rows are cut into tiles of 1 to 6, and all tiles take a chunk of K before any takes the
// next, so that weights stream once; their totals wait in a scratch. More rows than two share one unpacking of the chunk. Which
// tile computes a row changes no bit of it: see product-tiles.ts.

import type { Packing } from "../../../files/packing.ts";
import type { IntegerDots } from "../integer-dots.ts";
import type { FunctionBuilder, FunctionReference, Local } from "../wasm/function-builder.ts";
import { i32 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { I32, Value } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { Epilogue, type EpilogueName } from "../../epilogues.ts";
import { FIRST_GATE, GATED_COLUMNS, TOTALS_STRIDE, type EpilogueFunction } from "./epilogues.ts";
import { CHUNK, GROUP_COLUMNS, GROUP_PANELS, layoutName, WORDS_BYTES, type PanelFormat } from "./panels.ts";
import { defineTile, type Tile } from "./product-tiles.ts";
import { defineIntegerTile, MAX_INTEGER_HEIGHT } from "./integer-tiles.ts";
import type { QuantiseRows } from "./quantise-rows.ts";
import { PRODUCT } from "./signatures.ts";
import type { UnpackChunk } from "./unpack-chunk.ts";
import { panelBytesOf, walkChunks } from "./walk-chunks.ts";

/** Rows per pass: their totals fit the first-level cache. More rows take more passes. */
const MAX_ROWS = 64;
const MAX_HEIGHT = 6;
/** Higher tiles read weights that are unpacked. */
const MAX_PACKED_HEIGHT = 2;
const TOTALS_BYTES = MAX_ROWS * TOTALS_STRIDE;
const UNPACKED_BYTES = CHUNK * WORDS_BYTES;
/** Bytes that a product needs as a scratch: the totals of its rows, then a chunk of a group, unpacked. */
export const SCRATCH_BYTES = TOTALS_BYTES + GROUP_PANELS * UNPACKED_BYTES;

/** Returns the bytes that follow the scratch of products of integers, with rows of `kStride` values. */
export function integerBytes(kStride: number): number {
  return MAX_ROWS * 4 * kStride;
}

export function defineTiles(module: ModuleBuilder, math: Arithmetic, format: PanelFormat): readonly Tile[] {
  const name = layoutName(format.layout);
  const heights = format.layout === "f32" ? MAX_HEIGHT : MAX_PACKED_HEIGHT;
  return Array.from({ length: heights }, (_, i) => defineTile(module, `tile_${name}_${i + 1}`, math, format, i + 1));
}

export function defineIntegerTiles(module: ModuleBuilder, packing: Packing, kind: IntegerDots): readonly Tile[] {
  const heights = Array.from({ length: MAX_INTEGER_HEIGHT }, (_, i) => i + 1);
  return heights.map((height) => defineIntegerTile(module, packing, height, kind));
}

/** Defines a product that has its rows in integers first: a pass of rows at a time, after its other scratch. */
export function defineQuantisedProduct(
  module: ModuleBuilder,
  name: string,
  product: FunctionReference<typeof PRODUCT>,
  quantise: QuantiseRows,
): void {
  module.function(name, PRODUCT, (f, parameters) => {
    const { x, xStride, y, yStride, kBytes, rows, totals } = parameters;
    const target = f.i32(i32.add(totals, SCRATCH_BYTES));
    const height = f.i32();
    f.doWhile(
      () => {
        height.set(i32.select(i32.gtU(rows, MAX_ROWS), MAX_ROWS, rows));
        f.call(quantise, { x, xStride, kBytes, rows: height, target });
        f.call(product, { ...parameters, x: target, xStride: kBytes, rows: height });
        f.increment(x, i32.mul(xStride, height));
        f.increment(y, i32.mul(yStride, height));
        f.increment(rows, i32.sub(0, height));
      },
      i32.ne(rows, 0),
    );
  });
}

/** How a product of several rows reads weights that aren't f32. */
interface Unpacking {
  readonly unpack: UnpackChunk;
  /** Those of f32. */
  readonly tiles: readonly Tile[];
}

export function defineProduct(
  module: ModuleBuilder,
  name: string,
  format: PanelFormat,
  tiles: readonly Tile[],
  unpacking: Unpacking | null,
  epilogues: Readonly<Record<EpilogueName, EpilogueFunction>>,
): FunctionReference<typeof PRODUCT> {
  return module.function(name, PRODUCT, (f, parameters) => {
    const { x, xStride, w, bias, y, yStride, kBytes, groups, rows, totals, epilogue } = parameters;
    const panelBytes = f.i32(panelBytesOf(format, kBytes));
    const xBlock = f.i32();
    const yBlock = f.i32();
    const rowsLeft = f.i32();
    const height = f.i32();
    const yBytes = f.i32(i32.select(i32.geU(epilogue, FIRST_GATE), 4 * GATED_COLUMNS, 4 * GROUP_COLUMNS));
    f.doWhile(
      () => {
        xBlock.set(x);
        yBlock.set(y);
        rowsLeft.set(rows);
        f.doWhile(
          () => {
            height.set(i32.select(i32.gtU(rowsLeft, MAX_ROWS), MAX_ROWS, rowsLeft));
            const group = { x: xBlock, xStride, w, totals, kBytes, rows: height };
            const walkPacked = () =>
              multiplyGroup(f, tiles, format, group, (chunk, head) => ({ w: chunk, head, panelBytes }));
            if (!unpacking) walkPacked();
            else
              f.if(
                i32.gtU(height, tiles.length),
                () =>
                  multiplyGroup(f, unpacking.tiles, format, group, (chunk, head) => {
                    const target = f.i32(i32.add(totals, TOTALS_BYTES));
                    const end = i32.add(totals, SCRATCH_BYTES);
                    f.call(unpacking.unpack, { w: chunk, head, panelBytes, target, end });
                    return { w: target, head: target, panelBytes: UNPACKED_BYTES };
                  }),
                walkPacked,
              );
            for (const [end, number] of Object.entries(Epilogue)) {
              const finish = epilogues[end as EpilogueName];
              f.if(i32.eq(epilogue, number), () => f.call(finish, { totals, bias, y: yBlock, yStride, rows: height }));
            }
            f.increment(xBlock, i32.mul(xStride, height));
            f.increment(yBlock, i32.mul(yStride, height));
            f.increment(rowsLeft, i32.sub(0, height));
          },
          i32.ne(rowsLeft, 0),
        );
        f.increment(w, i32.mul(panelBytes, GROUP_PANELS));
        f.if(bias, () => f.increment(bias, 4 * GROUP_COLUMNS));
        f.increment(y, yBytes);
        f.increment(groups, -1);
      },
      i32.ne(groups, 0),
    );
  });
}

type Group = Readonly<Record<"x" | "xStride" | "w" | "totals" | "kBytes" | "rows", Local<"i32">>>;

/** Computes all tiles of a chunk before the next chunk. `read` prepares a chunk for them. */
function multiplyGroup(
  f: FunctionBuilder,
  tiles: readonly Tile[],
  format: PanelFormat,
  { x, xStride, w, totals, kBytes, rows }: Group,
  read: (chunk: Local<"i32">, head: Local<"i32">) => Readonly<Record<"w" | "head" | "panelBytes", I32>>,
): void {
  const totalsEnd = i32.add(totals, i32.mul(rows, TOTALS_STRIDE));
  f.for(totals, totalsEnd, 16, (at) => f.storeV128(at, 0));
  walkChunks(f, format, w, kBytes, (k, chunk, head) => {
    const left = f.i32(rows);
    const weights = read(chunk, head);
    const xTile = f.i32(i32.add(x, k));
    const tileTotals = f.i32(totals);
    f.doWhile(
      () => {
        chooseTile(f, tiles, left, (tile, height) => {
          f.call(tile, { x: xTile, xStride, ...weights, totals: tileTotals });
          f.increment(xTile, i32.mul(xStride, height));
          f.increment(tileTotals, TOTALS_STRIDE * height);
          f.increment(left, -height);
        });
      },
      i32.ne(left, 0),
    );
  });
}

/** Cuts rows as evenly as possible: 7 = 4 + 3, 8 = 4 + 4, 9 = 5 + 4, 10 = 5 + 5, 11 = 6 + 5, then sixes. */
function chooseTile(
  f: FunctionBuilder,
  tiles: readonly Tile[],
  left: Value<"i32">,
  call: (tile: Tile, height: number) => void,
): void {
  const isChosen: Readonly<Record<number, Value<"i32">>> = {
    6: i32.or(i32.geU(left, 11), i32.eq(left, 6)),
    5: i32.or(i32.geU(left, 9), i32.eq(left, 5)),
    4: i32.geU(left, 4),
    3: i32.eq(left, 3),
    2: i32.eq(left, 2),
  };
  const choose = (height: number): void => {
    const tile = tiles[height - 1];
    const condition = isChosen[height];
    if (!tile) return;
    if (condition)
      f.if(
        condition,
        () => call(tile, height),
        () => choose(height - 1),
      );
    else call(tile, height);
  };
  choose(tiles.length);
}
