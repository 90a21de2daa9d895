// totals[r, n] = sum over k of x[r, k] w[k, n]      of one group of 32 columns; totals: [rows, 32] f32
//
// The order of additions is the GPU's (shaders/README.md): within a chunk of 32 along K one chain from zero, k ascending; the
// chunks' sums, each times its scale, in ascending order. Two kinds of tiles compute the same bits:
//
//   whole tile   1 or 2 rows, all of K at once, reading 4 or 2 panels side by side: as many streams from memory
//   chunk tile   1 to 6 rows and one chunk, added to totals; a panel at a time: sums stay in registers

import type { FunctionBuilder, FunctionReference, Local } from "../wasm/function-builder.ts";
import { f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { I32, Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { TOTALS_STRIDE } from "./epilogues.ts";
import { CHUNK, GROUP_COLUMNS, GROUP_PANELS, PANEL_COLUMNS, type PanelConstants, type PanelFormat } from "./panels.ts";

const CHUNK_X_BYTES = 4 * CHUNK;
const PANEL_TOTALS_BYTES = 4 * PANEL_COLUMNS;
const HALVES = [0, 1];
/** Steps of K between two looks at the loop's end. */
const UNROLL = 16;
const ROW_UNROLL = { 1: 16, 2: 16, 4: 8 } as const;

const TILE = { x: "i32", xStride: "i32", w: "i32", panelBytes: "i32", totals: "i32" } as const;
export type ChunkTile = FunctionReference<typeof TILE, null>;
const WHOLE_TILE = { ...TILE, kBytes: "i32" } as const;
export type WholeTile = FunctionReference<typeof WHOLE_TILE, null>;

/** x: the rows' first chunk; w: the group's first panel; kBytes: of a row of x. */
export function defineWholeTile(
  module: ModuleBuilder,
  math: Arithmetic,
  name: string,
  format: PanelFormat,
  rows: 1 | 2,
): WholeTile {
  const panels = GROUP_PANELS / rows;
  return module.function(name, WHOLE_TILE, (f, { x, xStride, w, panelBytes, totals, kBytes }) => {
    const constants = format.constants(f);
    const pointers = Array.from({ length: panels }, () => f.i32());
    const scales = Array.from({ length: panels }, () => f.i32());
    const xRows = rowPointers(f, rows);
    const sums = grid(f, rows, 2 * panels);
    const wholes = grid(f, rows, 2 * panels);
    const splats = f.vectors(format.rowRun);
    const end = f.i32(i32.add(x, kBytes));
    const chunkEnd = f.i32();
    const totalsEnd = f.i32(i32.add(totals, 4 * GROUP_COLUMNS));

    f.doWhile(
      () => {
        pointers.forEach((pointer, p) =>
          pointer.set(i32.add(p === 0 ? w : (pointers[p - 1] ?? w), p === 0 ? 0 : panelBytes)),
        );
        pointRows(xRows, x, xStride);
        zero(wholes);
        const [firstRow] = xRows as [Local<"i32">];
        f.doWhile(
          () => {
            zero(sums);
            pointers.forEach((pointer, p) => {
              scales[p]?.set(pointer);
              f.increment(pointer, format.firstByte);
            });
            chunkEnd.set(i32.add(firstRow, CHUNK_X_BYTES));
            const unroll = ROW_UNROLL[format.rowRun];
            f.doWhile(
              () => {
                for (let first = 0; first < unroll; first += format.rowRun) {
                  multiplyRun(math, format, constants, { pointers, xRows, sums, splats, first });
                }
                for (const pointer of pointers) f.increment(pointer, unroll * format.bytesAStep);
                for (const row of xRows) f.increment(row, 4 * unroll);
              },
              i32.ltU(firstRow, chunkEnd),
            );
            pointers.forEach((pointer) => f.increment(pointer, endOfChunk(format)));
            sums.forEach((row, r) =>
              row.forEach((sum, c) => {
                const whole = wholes[r]?.[c];
                whole?.set(scaledSum(math, format, sum, scales[c >> 1] ?? 0, c & 1, whole));
              }),
            );
          },
          i32.ltU(firstRow, end),
        );
        wholes.forEach((row, r) => row.forEach((whole, c) => f.storeV128(totals, whole, TOTALS_STRIDE * r + 16 * c)));
        f.increment(w, i32.mul(panelBytes, panels));
        f.increment(totals, PANEL_TOTALS_BYTES * panels);
      },
      i32.ltU(totals, totalsEnd),
    );
  });
}

/** x: the rows' chunk; w: the chunk of the group's first panel. */
export function defineChunkTile(
  module: ModuleBuilder,
  math: Arithmetic,
  name: string,
  format: PanelFormat,
  rows: number,
): ChunkTile {
  return module.function(name, TILE, (f, { x, xStride, w, panelBytes, totals }) => {
    const constants = format.constants(f);
    const xRows = rowPointers(f, rows);
    const sums = grid(f, rows, 2);
    const weights = f.vectors(2);
    const pointer = f.i32();
    const splat = f.v128();
    const end = f.i32(i32.add(x, CHUNK_X_BYTES));
    const totalsEnd = f.i32(i32.add(totals, 4 * GROUP_COLUMNS));
    f.doWhile(
      () => {
        zero(sums);
        pointRows(xRows, x, xStride);
        pointer.set(i32.add(w, format.firstByte));
        f.doWhile(
          () => {
            for (let k = 0; k < UNROLL; k++) {
              for (const half of HALVES) weights[half]?.set(format.weights(pointer, k, half, constants));
              xRows.forEach((row, r) => {
                splat.set(v128.load32Splat(row, 4 * k));
                sums[r]?.forEach((sum, half) => sum.set(math.madd(weights[half] ?? splat, splat, sum)));
              });
            }
            f.increment(pointer, UNROLL * format.bytesAStep);
            for (const row of xRows) f.increment(row, 4 * UNROLL);
          },
          i32.ltU(xRows[0] ?? end, end),
        );
        sums.forEach((row, r) =>
          row.forEach((sum, half) => {
            const at = TOTALS_STRIDE * r + 16 * half;
            f.storeV128(totals, scaledSum(math, format, sum, w, half, v128.load(totals, at)), at);
          }),
        );
        f.increment(w, panelBytes);
        f.increment(totals, PANEL_TOTALS_BYTES);
      },
      i32.ltU(totals, totalsEnd),
    );
  });
}

interface Run {
  readonly pointers: readonly I32[];
  readonly xRows: readonly I32[];
  readonly sums: readonly (readonly Local<"v128">[])[];
  readonly splats: readonly Local<"v128">[];
  /** First step of the run, from the pointers on. */
  readonly first: number;
}

/** The next steps of K for all columns of a whole tile. */
function multiplyRun(
  math: Arithmetic,
  format: PanelFormat,
  constants: PanelConstants,
  { pointers, xRows, sums, splats, first }: Run,
): void {
  xRows.forEach((row, r) => {
    splats.forEach((splat, j) => splat.set(v128.load32Splat(row, 4 * (first + j))));
    sums[r]?.forEach((sum, c) =>
      splats.forEach((splat, j) => {
        const weights = format.weights(pointers[c >> 1] ?? 0, first + j, c & 1, constants);
        sum.set(math.madd(weights, splat, sum));
      }),
    );
  });
}

/** total + sum, or total + sum times the scale of its columns. */
function scaledSum(
  math: Arithmetic,
  { isScaled }: PanelFormat,
  sum: Vector,
  chunk: I32,
  half: number,
  total: Vector,
): Vector {
  return isScaled ? math.madd(sum, v128.load(chunk, 16 * half), total) : f32x4.add(total, sum);
}

/** From where a chunk's steps leave a pointer to the next chunk. */
function endOfChunk({ chunkBytes, bytesAStep, firstByte }: PanelFormat): number {
  return chunkBytes - CHUNK * bytesAStep - firstByte;
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
