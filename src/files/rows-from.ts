// Matrices whose rows are those of others, in another order. Rows move whole, so they stay as they are stored: as floats or packed.

import { commonLayout, widen, zeroRows, type PackedRows } from "./packing.ts";
import { releaseBytes } from "./release-bytes.ts";
import { BYTES_PER_ELEMENT, inOneType, layoutOf, type Tensor } from "./tensor.ts";

interface Place {
  readonly tensor: Tensor;
  readonly row: number;
}

type Numbers = Uint8Array<ArrayBuffer> | Int8Array<ArrayBuffer> | Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>;

/** How rows are moved: arrays of them, each row by row. */
interface Band<Rows> {
  zeros(count: number): Rows;
  arraysOf(rows: Rows): readonly (Numbers | null)[];
}

/** Rows [row, row + count) of a tensor become rows [at, at + count) of a band. */
interface Run extends Place {
  readonly at: number;
  count: number;
}

/** Rows at most so far apart are read at once. */
const MAX_GAP_ROWS = 256;

/**
 * Returns a matrix [rows, columns] of rows of others, unread. If those are packed it is, too: all alike, in a wider form where
 * they differ.
 * @param placeOf where each row is; null: it is zeros
 */
export function rowsFrom(tensors: readonly Tensor[], rows: number, placeOf: (row: number) => Place | null): Tensor {
  const alike = new Map(inOneType(tensors).map((tensor, i) => [tensors[i], tensor]));
  const [{ dtype, columns } = { dtype: "F32", columns: 0 } as const] = alike.values();
  const layout = commonLayout(tensors.map(layoutOf));
  const bytes: Band<Uint8Array<ArrayBuffer>> = {
    zeros: (count) => new Uint8Array(count * columns * BYTES_PER_ELEMENT[dtype]),
    arraysOf: (band) => [band],
  };
  const read = <Rows>(begin: number, end: number, band: Band<Rows>, one: ReadRows<Rows>) =>
    collect(runsOf(begin, end, placeOf), end - begin, band, one);
  return {
    dtype,
    rows,
    columns,
    readRows: (begin, end) => read(begin, end, bytes, (tensor, ...of) => (alike.get(tensor) ?? tensor).readRows(...of)),
    packed:
      typeof layout === "string"
        ? null
        : {
            packing: layout,
            readRows: (begin, end) =>
              read(
                begin,
                end,
                { zeros: (count) => zeroRows(layout, count * columns), arraysOf },
                async ({ packed }, ...of) => {
                  if (!packed) throw new TypeError("these rows are not packed");
                  return widen(packed.packing, await packed.readRows(...of), layout);
                },
              ),
          },
    rowsOf(first, count) {
      const there = new Set(Array.from({ length: count }, (_, i) => placeOf(first + i)?.tensor));
      return rowsFrom(
        tensors.filter((tensor) => there.has(tensor)),
        count,
        (row) => placeOf(first + row),
      );
    },
  };
}

/** Joins matrices of one width, unread. Vectors, which are rows, become one longer row. */
export function joinRows(tensors: readonly Tensor[]): Tensor {
  const [only] = tensors;
  if (only && tensors.length === 1) return only;
  if (tensors.every(({ rows }) => rows === 1)) return asVector(joinRows(tensors.map(asColumn)));
  const ends: number[] = [];
  for (const { rows } of tensors) ends.push((ends.at(-1) ?? 0) + rows);
  return rowsFrom(tensors, ends.at(-1) ?? 0, (row) => {
    const i = ends.findIndex((end) => row < end);
    const tensor = tensors[i];
    return tensor ? { tensor, row: row - (ends[i - 1] ?? 0) } : null;
  });
}

/** Returns a vector's values as rows of one. */
export function asColumn(vector: Tensor): Tensor {
  const { dtype, columns: rows } = vector;
  const bytes = BYTES_PER_ELEMENT[dtype];
  const readRows: Tensor["readRows"] = async (begin, end) =>
    (await vector.readRows(0, 1)).slice(begin * bytes, end * bytes);
  return { dtype, rows, columns: 1, readRows };
}

/** Returns rows of one as a vector. */
export function asVector(column: Tensor): Tensor {
  const { dtype, rows: columns } = column;
  return { dtype, rows: 1, columns, readRows: () => column.readRows(0, columns) };
}

type ReadRows<Rows> = (tensor: Tensor, begin: number, end: number) => Promise<Rows>;

async function collect<Rows>(runs: readonly Run[], length: number, band: Band<Rows>, read: ReadRows<Rows>) {
  const [first] = runs;
  if (first && first.count === length) return read(first.tensor, first.row, first.row + first.count);
  const all = band.zeros(length);
  const targets = band.arraysOf(all);
  for (const { tensor, begin, end, parts } of readsOf(runs)) {
    for (const [i, source] of band.arraysOf(await read(tensor, begin, end)).entries()) {
      if (!source) continue;
      const width = source.length / (end - begin);
      for (const { row, at, count } of parts) {
        const from = (row - begin) * width;
        targets[i]?.set(source.subarray(from, from + count * width), at * width);
      }
      releaseBytes(source);
    }
  }
  return all;
}

/** Returns neighbours that stay neighbours. */
function runsOf(begin: number, end: number, placeOf: (row: number) => Place | null): Run[] {
  const runs: Run[] = [];
  let last: Run | null = null;
  for (let at = 0; at < end - begin; at++) {
    const place = placeOf(begin + at);
    if (place === null) continue;
    const { tensor, row } = place;
    const goesOn = last !== null && last.tensor === tensor && last.row + last.count === row;
    if (goesOn && last !== null && last.at + last.count === at) last.count += 1;
    else runs.push((last = { tensor, row, at, count: 1 }));
  }
  return runs;
}

/** Returns what is read at once, and the runs in it. */
function readsOf(runs: readonly Run[]): { tensor: Tensor; begin: number; end: number; parts: Run[] }[] {
  return [...new Set(runs.map(({ tensor }) => tensor))].flatMap((tensor) => {
    const reads: { tensor: Tensor; begin: number; end: number; parts: Run[] }[] = [];
    for (const run of runs.filter((one) => one.tensor === tensor).sort((a, b) => a.row - b.row)) {
      const last = reads.at(-1);
      if (last && run.row <= last.end + MAX_GAP_ROWS) {
        last.end = Math.max(last.end, run.row + run.count);
        last.parts.push(run);
      } else reads.push({ tensor, begin: run.row, end: run.row + run.count, parts: [run] });
    }
    return reads;
  });
}

function arraysOf({ integers, d, m, scales, minimums }: PackedRows): readonly (Numbers | null)[] {
  return [integers, d, m, scales, minimums];
}
