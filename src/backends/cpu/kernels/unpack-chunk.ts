// target[panel] = that panel's chunk, its weights as f32      of as many panels as there is room for
//
// A product of several rows reads a chunk once a tile. Unpacked once for all of them, it costs each tile a load. The values are
// the same, so the bits of the product are, too. An embedding takes a column of one panel.

import type { FunctionReference } from "../wasm/function-builder.ts";
import { i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { CHUNK, layoutName, WORDS_BYTES, type PanelFormat } from "./panels.ts";

const UNPACK = "w head panelBytes target end: i32";
export type UnpackChunk = FunctionReference<typeof UNPACK>;

/** w and head: those of the first panel; panelBytes: from a panel to the next; target: chunks of f32, to `end`. */
export function defineUnpackChunk(module: ModuleBuilder, math: Arithmetic, format: PanelFormat): UnpackChunk {
  const name = `unpack_${layoutName(format.layout)}`;
  return module.function(name, UNPACK, (f, { w, head, panelBytes, target, end }) => {
    const [reader] = format.readers(f, math, 1, "values");
    f.doWhile(
      () => {
        for (let k = 0; k < CHUNK; k++) {
          if (k % format.groupSteps === 0) reader?.begin(w, head, k / format.groupSteps);
          for (const half of [0, 1])
            f.storeV128(target, reader?.weights(w, k, half) ?? v128.load(w), k * WORDS_BYTES + 16 * half);
        }
        f.increment(w, panelBytes);
        f.increment(head, panelBytes);
        f.increment(target, CHUNK * WORDS_BYTES);
      },
      i32.ltU(target, end),
    );
  });
}
