// Dots of other processors: relaxed SIMD's, made of plain instructions.

import { vi } from "vitest";

import { i16x8, i32x4, v128 } from "../../src/backends/cpu/wasm/instructions.ts";
import type { Vector } from "../../src/backends/cpu/wasm/value.ts";

/** What a dot makes of its second factor; "saturated": bytes without a sign, sums of two of whose products stay within 16 bits. */
export type EmulatedDots = "unsigned" | "signed" | "saturated";

const LOW = i32x4.splat(0x00ff00ff);
const SIGNS = i32x4.splat(0x00800080);
const MINUS_128 = i32x4.splat(0xff80ff80 | 0);

const even = (bytes: Vector) => v128.and(bytes, LOW);
const odd = (bytes: Vector) => i16x8.shrU(bytes, 8);
const signed = (shorts: Vector) => i16x8.add(v128.xor(shorts, SIGNS), MINUS_128);

/** Modules that are assembled until the mocks are restored have these dots. */
export function emulateDots(kind: EmulatedDots): void {
  vi.spyOn(i32x4, "relaxedDotI8x16I7x16AddS").mockImplementation((a, b, sum) => {
    const dots = [even, odd].map((half) => {
      const weights = half(b);
      return i32x4.dotI16x8S(signed(half(a)), kind === "signed" ? signed(weights) : weights);
    });
    const [first = sum, second = sum] = dots;
    // Sums of two neighbours and two others; a processor's are of other two, which are as large.
    const within = (vector: Vector) => i32x4.extendLowI16x8S(i16x8.narrowI32x4S(vector, vector));
    const [left, right] = kind === "saturated" ? [within(first), within(second)] : [first, second];
    return i32x4.add(i32x4.add(left, right), sum);
  });
}
