// totals[r, n] = sum over k of x[r, k] w[k, n]      of one group of 32 columns; totals: [rows, 32] f32
//
// The order of additions is the GPU's (shaders/README.md): within a chunk of 32 along K one chain from zero, k ascending; the
// chunks' sums, each times its scale, in ascending order. A tile is of 1 to 6 rows and one chunk: it adds its sums to the totals.
// Sums stay in registers: a tile of one row takes all 4 panels at once, one of two rows 2, and a higher one a single panel.

import type { FunctionBuilder, FunctionReference, Local } from "../wasm/function-builder.ts";
import { f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { I32, Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { TOTALS_STRIDE } from "./epilogues.ts";
import { CHUNK, GROUP_COLUMNS, GROUP_PANELS, PANEL_COLUMNS, type ChunkFormat } from "./panels.ts";

const CHUNK_X_BYTES = 4 * CHUNK;
const PANEL_TOTALS_BYTES = 4 * PANEL_COLUMNS;
/** Steps of K between two looks at the loop's end. */
const UNROLL = 16;

const TILE = { x: "i32", xStride: "i32", w: "i32", panelBytes: "i32", totals: "i32" } as const;
export type Tile = FunctionReference<typeof TILE, null>;

/** x: the rows' chunk; w: that chunk of the group's first panel; panelBytes: from a panel to the next. */
export function defineTile(
  module: ModuleBuilder,
  name: string,
  math: Arithmetic,
  format: ChunkFormat,
  rows: number,
): Tile {
  const panels = rows <= 2 ? GROUP_PANELS / rows : 1;
  return module.function(name, TILE, (f, { x, xStride, w, panelBytes, totals }) => {
    const constants = format.constants(f);
    const xRows = rowPointers(f, rows);
    const sums = grid(f, rows, 2 * panels);
    // One row needs each weight once, and no register for it.
    const kept = rows === 1 ? [] : f.vectors(2 * panels);
    const pointers = Array.from({ length: panels }, () => f.i32());
    const splat = f.v128();
    const end = f.i32(i32.add(x, CHUNK_X_BYTES));
    const totalsEnd = f.i32(i32.add(totals, 4 * GROUP_COLUMNS));
    f.doWhile(
      () => {
        zero(sums);
        pointRows(xRows, x, xStride);
        pointers.forEach((pointer, p) =>
          pointer.set(p === 0 ? i32.add(w, format.firstByte) : i32.add(pointers[p - 1] ?? w, panelBytes)),
        );
        f.doWhile(
          () => {
            for (let k = 0; k < UNROLL; k++) {
              const weights = (c: number) => format.weights(pointers[c >> 1] ?? w, k, 16 * (c & 1), constants);
              kept.forEach((weight, c) => weight.set(weights(c)));
              xRows.forEach((row, r) => {
                splat.set(v128.load32Splat(row, 4 * k));
                sums[r]?.forEach((sum, c) => sum.set(math.madd(kept[c] ?? weights(c), splat, sum)));
              });
            }
            for (const pointer of pointers) f.increment(pointer, UNROLL * format.bytesPerStep);
            for (const row of xRows) f.increment(row, 4 * UNROLL);
          },
          i32.ltU(xRows[0] ?? end, end),
        );
        // Back to where the panels' scales are.
        for (const pointer of pointers) f.increment(pointer, -format.firstByte - CHUNK * format.bytesPerStep);
        sums.forEach((row, r) =>
          row.forEach((sum, c) => {
            const at = TOTALS_STRIDE * r + 16 * c;
            const scales = pointers[c >> 1] ?? w;
            f.storeV128(totals, scaledSum(math, format, sum, scales, 16 * (c & 1), v128.load(totals, at)), at);
          }),
        );
        f.increment(w, i32.mul(panelBytes, panels));
        f.increment(totals, PANEL_TOTALS_BYTES * panels);
      },
      i32.ltU(totals, totalsEnd),
    );
  });
}

/** Returns total + sum, or total + sum times the scale of its columns. */
function scaledSum(
  math: Arithmetic,
  format: ChunkFormat,
  sum: Vector,
  scales: I32,
  offset: number,
  total: Vector,
): Vector {
  if (!format.isScaled) return f32x4.add(total, sum);
  return math.madd(sum, v128.load(scales, offset), total);
}

function rowPointers(f: FunctionBuilder, rows: number): Local<"i32">[] {
  return Array.from({ length: rows }, () => f.i32());
}

function pointRows(pointers: readonly Local<"i32">[], x: Local<"i32">, xStride: Local<"i32">): void {
  pointers.forEach((pointer, r) => pointer.set(r === 0 ? x : i32.add(pointers[r - 1] ?? x, xStride)));
}

function grid(f: FunctionBuilder, rows: number, vectors: number): Local<"v128">[][] {
  return Array.from({ length: rows }, () => f.vectors(vectors));
}

function zero(vectors: readonly (readonly Local<"v128">[])[]): void {
  for (const vector of vectors.flat()) vector.set(0);
}
