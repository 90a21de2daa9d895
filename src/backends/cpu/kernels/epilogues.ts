// y[r, n] = epilogue(totals[r, n] + bias[n])      of one group of 32 columns; totals: [rows, 32] f32
//
// What follows a product, while its sums are still in the first cache. `bias` 0: there is none.
//
//   store            y = z
//   geluTanh, geluErf, silu    y = activation(z)
//   addToOutput      y = y + z
//   multiplyOutput   y = y z: after a gate's product has left its activations in y

import type { FunctionReference } from "../wasm/function-builder.ts";
import { f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { GROUP_COLUMNS } from "./panels.ts";

/** Numbers of the epilogues, as `product` takes them. */
export const EPILOGUE = { store: 0, geluTanh: 1, geluErf: 2, silu: 3, addToOutput: 4, multiplyOutput: 5 } as const;
export type Epilogue = keyof typeof EPILOGUE;

const PARAMETERS = { totals: "i32", bias: "i32", y: "i32", yStride: "i32", rows: "i32" } as const;
export type EpilogueFunction = FunctionReference<typeof PARAMETERS, null>;

const VECTORS = GROUP_COLUMNS / 4;
/** Bytes of a row of totals. */
export const TOTALS_STRIDE = 4 * GROUP_COLUMNS;

export function defineEpilogues(module: ModuleBuilder, math: Arithmetic): Readonly<Record<Epilogue, EpilogueFunction>> {
  const define = (name: Epilogue): EpilogueFunction =>
    module.function(`epilogue_${name}`, PARAMETERS, (f, { totals, bias, y, yStride, rows }) => {
      const z = f.v128();
      f.doWhile(
        () => {
          for (let i = 0; i < VECTORS; i++) {
            z.set(v128.load(totals, 16 * i));
            f.if(bias, () => z.set(f32x4.add(z, v128.load(bias, 16 * i))));
            const output = v128.load(y, 16 * i);
            const result = {
              store: () => z,
              geluTanh: () => math.geluTanh(f, z),
              geluErf: () => math.geluErf(f, z),
              silu: () => math.silu(f, z),
              addToOutput: () => f32x4.add(output, z),
              multiplyOutput: () => f32x4.mul(output, z),
            }[name]();
            f.storeV128(y, result, 16 * i);
          }
          f.increment(totals, TOTALS_STRIDE);
          f.increment(y, yStride);
          f.increment(rows, -1);
        },
        i32.ne(rows, 0),
      );
    });
  return {
    store: define("store"),
    geluTanh: define("geluTanh"),
    geluErf: define("geluErf"),
    silu: define("silu"),
    addToOutput: define("addToOutput"),
    multiplyOutput: define("multiplyOutput"),
  };
}
