import { afterEach, expect, it, vi } from "vitest";

import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";
import { emulateDots } from "../../../tests/cpu/emulated-dots.ts";
import { detectIntegerDots } from "./integer-dots.ts";

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

it("finds a kind on this machine, too", async () => {
  expect(["unsigned", "signed", "relaxed"]).toContain(await detectIntegerDots());
});
