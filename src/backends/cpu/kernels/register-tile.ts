// sums[row][column] += rows[row] columns[column]      sums of vectors that stay in registers

import type { FunctionBuilder, Local } from "../wasm/function-builder.ts";
import type { Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";

type Sums = readonly (readonly Local<"v128">[])[];

interface TileShape {
  readonly rows: number;
  readonly columns: number;
}

/** Registers that tiles of several shapes use, one tile after the other. */
export class TileRegisters {
  readonly #math: Arithmetic;
  readonly #sums: readonly Local<"v128">[];
  /** Factors of the smaller side: each factor of the other one is multiplied by all of them. */
  readonly #held: readonly Local<"v128">[];
  readonly #factor: Local<"v128">;

  /** @param chains number of tiles of each shape at once */
  constructor(f: FunctionBuilder, math: Arithmetic, shapes: readonly TileShape[], chains: number) {
    this.#math = math;
    this.#sums = f.vectors(chains * Math.max(...shapes.map(({ rows, columns }) => rows * columns)));
    this.#held = f.vectors(Math.max(...shapes.map(({ rows, columns }) => Math.min(rows, columns))));
    this.#factor = f.v128();
  }

  /** Returns the sums of one of a tile's chains. */
  sums({ rows, columns }: TileShape, chain: number): Sums {
    const first = chain * rows * columns;
    return Array.from({ length: rows }, (_, row) =>
      this.#sums.slice(first + row * columns, first + (row + 1) * columns),
    );
  }

  /** Evaluates each factor once. */
  add(sums: Sums, rows: readonly Vector[], columns: readonly Vector[]): void {
    const holdsRows = rows.length <= columns.length;
    const [few, many] = holdsRows ? [rows, columns] : [columns, rows];
    const held = this.#held.slice(0, few.length);
    few.forEach((one, i) => held[i]?.set(one));
    many.forEach((one, i) => {
      this.#factor.set(one);
      held.forEach((register, j) => {
        const sum = holdsRows ? sums[j]?.[i] : sums[i]?.[j];
        sum?.set(this.#math.madd(this.#factor, register, sum));
      });
    });
  }
}
