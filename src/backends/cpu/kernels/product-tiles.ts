// totals[r, n] = sum over k of x[r, k] w[k, n]      of one group of 32 columns; totals: [rows, 32] f32
//
// The order of additions is the GPU's (shaders/README.md): within a chunk of 32 along K one chain from zero, k ascending; the
// chunks' sums in ascending order. A tile is of 1 to 6 rows and one chunk: it adds its sums to the totals. Sums stay in
// registers: a tile of one row takes 2 panels at once, or all 4 of weights that need no unpacking, and a higher one fewer.

import type { FunctionBuilder, FunctionReference, Local } from "../wasm/function-builder.ts";
import { f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { TOTALS_STRIDE } from "./epilogues.ts";
import { CHUNK, GROUP_COLUMNS, GROUP_PANELS, PANEL_COLUMNS, type PanelFormat } from "./panels.ts";

const PANEL_TOTALS_BYTES = 4 * PANEL_COLUMNS;

export const TILE = "x xStride w head panelBytes totals: i32";
export type Tile = FunctionReference<typeof TILE>;

/** x: the rows' chunk; w and head: those of the group's first panel; panelBytes: from a panel to the next. */
export function defineTile(
  module: ModuleBuilder,
  name: string,
  math: Arithmetic,
  format: PanelFormat,
  rows: number,
): Tile {
  const panels = Math.max(1, Math.floor((format.layout === "f32" ? GROUP_PANELS : 1) / rows));
  return module.function(name, TILE, (f, { x, xStride, w, head, panelBytes, totals }) => {
    const readers = format.readers(f, math, panels, "sums");
    const xRows = Array.from({ length: rows }, () => f.i32());
    const sums = grid(f, rows, 2 * panels);
    // One row needs each weight once, and no register for it.
    const kept = rows === 1 ? [] : f.vectors(2 * panels);
    const chunks = Array.from({ length: panels }, () => f.i32());
    const heads = chunks.map((chunk) => (format.headBytes === 0 ? chunk : f.i32()));
    const splat = f.v128();
    const totalsEnd = f.i32(i32.add(totals, 4 * GROUP_COLUMNS));
    pointRows(xRows, x, xStride);
    f.doWhile(
      () => {
        zero(sums);
        pointRows(chunks, w, panelBytes);
        if (format.headBytes > 0) pointRows(heads, head, panelBytes);
        for (let k = 0; k < CHUNK; k++) {
          if (k % format.groupSteps === 0)
            readers.forEach((reader, p) => reader.begin(chunks[p] ?? w, heads[p] ?? head, k / format.groupSteps));
          const weights = (c: number) => readers[c >> 1]?.weights(chunks[c >> 1] ?? w, k, c & 1) ?? splat;
          kept.forEach((weight, c) => weight.set(weights(c)));
          xRows.forEach((row, r) => {
            splat.set(v128.load32Splat(row, 4 * k));
            sums[r]?.forEach((sum, c) => sum.set(math.madd(kept[c] ?? weights(c), splat, sum)));
          });
        }
        sums.forEach((row, r) =>
          row.forEach((sum, c) => {
            const at = TOTALS_STRIDE * r + 16 * c;
            f.storeV128(totals, f32x4.add(v128.load(totals, at), sum), at);
          }),
        );
        f.increment(w, i32.mul(panelBytes, panels));
        f.increment(head, i32.mul(panelBytes, panels));
        f.increment(totals, PANEL_TOTALS_BYTES * panels);
      },
      i32.ltU(totals, totalsEnd),
    );
  });
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
