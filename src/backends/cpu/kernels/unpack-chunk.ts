// target[panel] = that panel's chunk of the group, its weights as f32      integers still lack their scale, which is copied
//
// A product of many rows reads a chunk once a tile. Unpacked once for all of them, it costs each tile a load. The values are
// the same, so the bits of the product are, too.

import type { FunctionReference } from "../wasm/function-builder.ts";
import { i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import { CHUNK, GROUP_PANELS, type ChunkFormat, type PanelFormat } from "./panels.ts";

const UNPACK = { w: "i32", panelBytes: "i32", target: "i32" } as const;

/** w: the chunk of the group's first panel; panelBytes: from a panel to the next; target: chunks of `unpacked`, one a panel. */
export function defineUnpackChunk(
  module: ModuleBuilder,
  format: PanelFormat,
  unpacked: ChunkFormat,
): FunctionReference<typeof UNPACK, null> {
  return module.function("unpack_chunk", UNPACK, (f, { w, panelBytes, target }) => {
    const constants = format.constants(f);
    const first = f.i32();
    const end = f.i32(i32.add(target, GROUP_PANELS * unpacked.chunkBytes));
    f.doWhile(
      () => {
        for (let at = 0; at < unpacked.firstByte; at += 16) f.storeV128(target, v128.load(w, at), at);
        first.set(i32.add(w, format.firstByte));
        for (let k = 0; k < CHUNK; k++) {
          for (const offset of [0, 16]) {
            const at = unpacked.firstByte + k * unpacked.bytesPerStep + offset;
            f.storeV128(target, format.weights(first, k, offset, constants), at);
          }
        }
        f.increment(w, panelBytes);
        f.increment(target, unpacked.chunkBytes);
      },
      i32.ltU(target, end),
    );
  });
}
