// y[k] = scale w[k, token]      one row, out of the panels of an embedding [K, tokens], which may be the head's too
// y[k] = y[k] + x[k]            (add: learned positions)

import type { WeightsDtype } from "../../../protocol/config.ts";
import { f32, f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import { CHUNK, PANEL_COLUMNS, PANEL_FORMATS } from "./panels.ts";

/** `bytes`: of y with its padding, a multiple of 128. */
export type Embed = (w: number, token: number, y: number, bytes: number, scale: number) => void;
export type Add = (y: number, x: number, bytes: number) => void;

export function defineEmbed(module: ModuleBuilder, dtype: WeightsDtype): void {
  const format = PANEL_FORMATS[dtype];
  const parameters = { w: "i32", token: "i32", y: "i32", bytes: "i32", scale: "f32" } as const;
  module.function("embed", parameters, (f, { w, token, y, bytes, scale }) => {
    const panelBytes = i32.mul(i32.divU(bytes, 4 * CHUNK), format.chunkBytes);
    const panel = i32.add(w, i32.mul(i32.divU(token, PANEL_COLUMNS), panelBytes));
    const column = f.i32(i32.add(panel, i32.mul(i32.remU(token, PANEL_COLUMNS), 4)));
    f.for(0, bytes, 4 * CHUNK, (i) => {
      const out = f.i32(i32.add(y, i));
      for (let k = 0; k < CHUNK; k++) f.storeF32(out, f32.mul(format.weight(column, k), scale), 4 * k);
      f.increment(column, format.chunkBytes);
    });
  });
  module.function("add", { y: "i32", x: "i32", bytes: "i32" }, (f, { y, x, bytes }) => {
    f.for(0, bytes, 16, (i) =>
      f.storeV128(i32.add(y, i), f32x4.add(v128.load(i32.add(y, i)), v128.load(i32.add(x, i)))),
    );
  });
}
