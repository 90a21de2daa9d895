import { afterEach, expect, it, vi } from "vitest";

import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";
import { emulateDots } from "../../../tests/cpu/emulated-dots.ts";
import { detectIntegerDots } from "./integer-dots.ts";
import { i16x8 } from "./wasm/instructions.ts";
import { toI32 } from "./wasm/value.ts";

allowRelaxedSimd();
afterEach(() => vi.restoreAllMocks());

it.each([
  ["unsigned", "unsigned"],
  ["signed", "signed"],
  ["saturated", "relaxed"],
] as const)("finds out what this platform's dots make of 8 bits: %s", async (emulated, found) => {
  emulateDots(emulated);
  expect(await detectIntegerDots()).toBe(found);
});

it("takes 16 bits where the platform has no dots of 8", async () => {
  // Of another type: as invalid as an instruction that isn't there.
  vi.spyOn(i16x8, "relaxedDotI8x16I7x16S").mockReturnValue(toI32(1) as never);
  expect(await detectIntegerDots()).toBe("plain");
});
