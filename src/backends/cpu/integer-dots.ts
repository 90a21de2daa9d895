import { i16x8, i32x4, v128 } from "./wasm/instructions.ts";
import { ModuleBuilder } from "./wasm/module-builder.ts";

/**
 * How integers are multiplied. "plain": 16 bits, in any WebAssembly. "relaxed": up to 6 bits as bytes. "unsigned" and "signed": all as
 * bytes, by a dot that adds up and takes its second factor as 0 to 255, or as -128 to 127.
 */
export type IntegerDots = "plain" | "relaxed" | "unsigned" | "signed";

/** Extreme values, and what a dot is added to. */
const ACTIVATIONS = [127, -127, 100, -3];
const WEIGHTS = [255, 254, 128, 127];
const BEFORE = 1_000_003;
const BYTES = 16;

/**
 * Returns which dots this platform has. Relaxed SIMD leaves it to the platform what a second factor of 8 bits is, but a platform
 * always takes it alike (WebAssembly 3.0). Processors that have one instruction for this dot (VNNI, SDOT) take all 8 bits. x86 without
 * it takes three, whose sums of 16 bits are too small for them.
 */
export async function detectIntegerDots(): Promise<IntegerDots> {
  const module = new ModuleBuilder({ isShared: false, pages: 1 });
  module.function("dot", "a: i32", (f, { a }) => {
    const dots = i32x4.relaxedDotI8x16I7x16AddS(v128.load(a), v128.load(a, BYTES), v128.load(a, 2 * BYTES));
    f.storeV128(a, dots, 3 * BYTES);
    f.storeV128(a, i16x8.relaxedDotI8x16I7x16S(v128.load(a), v128.load(a, BYTES)), 4 * BYTES);
  });
  // Safari had other relaxed instructions years before these.
  const bytecode = module.finish();
  if (!WebAssembly.validate(bytecode)) return "plain";
  const memory = new WebAssembly.Memory({ initial: 1, maximum: 1 });
  const { instance } = await WebAssembly.instantiate(bytecode, { env: { memory } });
  const dot = instance.exports.dot as (a: number) => void;
  const [bytes, sums] = [new Int8Array(memory.buffer), new Int32Array(memory.buffer)];
  const isAs = (value: (weight: number) => number) =>
    ACTIVATIONS.every((activation) =>
      WEIGHTS.every((weight) => {
        bytes.fill(activation, 0, BYTES);
        bytes.fill(weight, BYTES, 2 * BYTES);
        sums.fill(BEFORE, BYTES / 2, (3 * BYTES) / 4);
        dot(0);
        const found = sums.subarray((3 * BYTES) / 4, BYTES);
        return found.every((sum) => sum === BEFORE + 4 * activation * value(weight));
      }),
    );
  if (isAs((weight) => weight)) return "unsigned";
  return isAs((weight) => (weight << 24) >> 24) ? "signed" : "relaxed";
}
