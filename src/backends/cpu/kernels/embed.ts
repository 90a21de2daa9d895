// y[k] = scale w[k, token]      one row, out of the panels of an embedding [K, tokens], which may be the head's too

import { f32, i32 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import { CHUNK, kernelsFor, PANEL_COLUMNS, WORDS_BYTES, type PanelFormat } from "./panels.ts";
import { EMBED } from "./signatures.ts";
import type { UnpackChunk } from "./unpack-chunk.ts";
import { panelBytesOf, walkChunks } from "./walk-chunks.ts";

/** @param unpack null for f32 */
export function defineEmbed(module: ModuleBuilder, format: PanelFormat, unpack: UnpackChunk | null): void {
  module.function(kernelsFor(format.layout).embed, EMBED, (f, { w, token, y, bytes, scale, scratch }) => {
    const panel = i32.add(w, i32.mul(i32.divU(token, PANEL_COLUMNS), panelBytesOf(format, bytes)));
    const inPanel = f.i32(i32.mul(i32.remU(token, PANEL_COLUMNS), 4));
    walkChunks(f, format, panel, bytes, (k, chunk, head) => {
      if (unpack) f.call(unpack, { w: chunk, head, panelBytes: 0, target: scratch, end: scratch });
      const column = f.i32(i32.add(unpack ? scratch : chunk, inPanel));
      const out = f.i32(i32.add(y, k));
      for (let i = 0; i < CHUNK; i++) f.storeF32(out, f32.mul(f32.load(column, i * WORDS_BYTES), scale), 4 * i);
    });
  });
}
