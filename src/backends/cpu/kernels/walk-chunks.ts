import type { FunctionBuilder, Local } from "../wasm/function-builder.ts";
import { i32 } from "../wasm/instructions.ts";
import type { I32, Value } from "../wasm/value.ts";
import { CHUNK, type PanelShape } from "./panels.ts";

/** Returns the bytes from a panel to the next; kBytes: of a row of x. */
export function panelBytesOf({ headBytes, unitChunks, chunkBytes }: PanelShape, kBytes: I32): Value<"i32"> {
  return i32.mul(i32.divU(kBytes, 4 * CHUNK * unitChunks), headBytes + unitChunks * chunkBytes);
}

/** Visits the chunks of a panel along K; k: in bytes of x. */
export function walkChunks(
  f: FunctionBuilder,
  { headBytes, unitChunks, chunkBytes }: PanelShape,
  panel: I32,
  kBytes: I32,
  visit: (k: Local<"i32">, chunk: Local<"i32">, head: Local<"i32">) => void,
): void {
  const chunk = f.i32(panel);
  const head = f.i32(panel);
  const takeHead = () => {
    head.set(chunk);
    f.increment(chunk, headBytes);
  };
  f.for(0, kBytes, 4 * CHUNK, (k) => {
    if (unitChunks > 1) f.if(i32.eqz(i32.and(k, 4 * CHUNK * unitChunks - 1)), takeHead);
    else takeHead();
    visit(k, chunk, head);
    f.increment(chunk, chunkBytes);
  });
}
