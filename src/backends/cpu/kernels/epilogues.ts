// y[r, n] = epilogue(totals[r, n] + bias[n])      of one group of 32 columns; totals: [rows, 32] f32
//
// Runs after a product, while its sums are still in the first cache. `bias` 0: there is none.
//
//   biasOnly         y = z
//   geluTanh, geluErf, silu, relu2    y = activation(z)
//   head             y = cap tanh(z / cap), if logits have a cap
//   addToOutput      y = y + z
//   gegluTanh, gegluErf, swiglu, reglu2    y = activation(gate) up, 16 columns: z has both (backends/gate-weights.ts)
//
//       z        gate 0  gate 1  up 0    up 1  |  gate 2  gate 3  up 2  up 3      two vectors
//       gate     gate 0  gate 1  gate 2  gate 3
//       up       up 0    up 1    up 2    up 3

import type { FunctionBuilder, FunctionReference, ParameterLocals } from "../wasm/function-builder.ts";
import { f32x4, i32, i32x4, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Vector } from "../wasm/value.ts";
import { Epilogue, type EpilogueName } from "../../epilogues.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { GROUP_COLUMNS } from "./panels.ts";

export const FIRST_GATE = Epilogue.gegluTanh;
/** Columns of y that a group becomes after a gate. */
export const GATED_COLUMNS = GROUP_COLUMNS / 2;

/** Returns the columns of y that a group of columns becomes. */
export function outputColumns(epilogue: EpilogueName): number {
  return Epilogue[epilogue] < FIRST_GATE ? GROUP_COLUMNS : GATED_COLUMNS;
}

const EPILOGUE_OF_ROWS = "totals bias y yStride rows: i32";
export type EpilogueFunction = FunctionReference<typeof EPILOGUE_OF_ROWS>;

/** Bytes of a row of totals. */
export const TOTALS_STRIDE = 4 * GROUP_COLUMNS;

/** @param logitCap of the epilogue "head" */
export function defineEpilogues(
  module: ModuleBuilder,
  math: Arithmetic,
  logitCap: number | null,
): Readonly<Record<EpilogueName, EpilogueFunction>> {
  const plain = (name: EpilogueName, finish: (f: FunctionBuilder, z: Vector, output: Vector) => Vector) =>
    defineEpilogue(module, name, (f, { totals, bias, y }) => {
      const z = f.v128();
      for (let at = 0; at < TOTALS_STRIDE; at += 16) {
        z.set(v128.load(totals, at));
        f.if(bias, () => z.set(f32x4.add(z, v128.load(bias, at))));
        f.storeV128(y, finish(f, z, v128.load(y, at)), at);
      }
    });
  const gate = (name: EpilogueName, activate: (f: FunctionBuilder, x: Vector) => Vector) =>
    defineEpilogue(module, name, (f, { totals, bias, y }) => {
      const [first, second, gated, up] = [f.v128(), f.v128(), f.v128(), f.v128()];
      for (let at = 0; at < 4 * GATED_COLUMNS; at += 16) {
        first.set(v128.load(totals, 2 * at));
        second.set(v128.load(totals, 2 * at + 16));
        f.if(bias, () => {
          first.set(f32x4.add(first, v128.load(bias, 2 * at)));
          second.set(f32x4.add(second, v128.load(bias, 2 * at + 16)));
        });
        gated.set(i32x4.shuffle(first, second, [0, 1, 4, 5]));
        up.set(i32x4.shuffle(first, second, [2, 3, 6, 7]));
        f.storeV128(y, f32x4.mul(activate(f, gated), up), at);
      }
    });
  return {
    biasOnly: plain("biasOnly", (_, z) => z),
    geluTanh: plain("geluTanh", (f, z) => math.geluTanh(f, z)),
    geluErf: plain("geluErf", (f, z) => math.geluErf(f, z)),
    silu: plain("silu", (f, z) => math.silu(f, z)),
    relu2: plain("relu2", (_, z) => math.relu2(z)),
    head: plain("head", (f, z) => (logitCap === null ? z : math.capped(f, z, logitCap))),
    addToOutput: plain("addToOutput", (_, z, output) => f32x4.add(output, z)),
    gegluTanh: gate("gegluTanh", (f, x) => math.geluTanh(f, x)),
    gegluErf: gate("gegluErf", (f, x) => math.geluErf(f, x)),
    swiglu: gate("swiglu", (f, x) => math.silu(f, x)),
    reglu2: gate("reglu2", (_, x) => math.relu2(x)),
  };
}

/** Defines the epilogue for all rows; `finishRow` computes y of one. */
function defineEpilogue(
  module: ModuleBuilder,
  name: EpilogueName,
  finishRow: (f: FunctionBuilder, row: ParameterLocals<typeof EPILOGUE_OF_ROWS>) => void,
): EpilogueFunction {
  return module.function(`epilogue_${name}`, EPILOGUE_OF_ROWS, (f, row) => {
    f.doWhile(
      () => {
        finishRow(f, row);
        f.increment(row.totals, TOTALS_STRIDE);
        f.increment(row.y, row.yStride);
        f.increment(row.rows, -1);
      },
      i32.ne(row.rows, 0),
    );
  });
}
