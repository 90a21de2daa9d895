import { describe, expect, it } from "vitest";

import { ChorusError } from "../../protocol/errors.ts";
import { defineKernel } from "./define-kernel.ts";
import { specialise } from "./specialise.ts";

const kernel = defineKernel(
  "probe",
  "// What override X: u32; is for\noverride LANES: u32; // a multiple of 4\noverride NORM: bool;\n\nfn probe() {}",
  "override SCALE: f32;\n",
);

const given = { LANES: 64, NORM: true, SCALE: 0.125 };

describe("specialise", () => {
  it("turns overrides into constants without moving lines", () => {
    expect(specialise(kernel, given).split("\n")).toEqual([
      "// What override X: u32; is for",
      "const LANES: u32 = 64u; // a multiple of 4",
      "const NORM: bool = true;",
      "",
      "fn probe() {}",
      "const SCALE: f32 = 0.125f;",
      "",
    ]);
  });

  it.each([1, -2.5, 1e-5, 1 / 3, 1 / Math.sqrt(20), 1e-20, 3e38])("writes the float nearest to %d exactly", (SCALE) => {
    const [, literal = ""] = /SCALE: f32 = (.+)f;/.exec(specialise(kernel, { ...given, SCALE })) ?? [];
    expect(Number(literal)).toBe(Math.fround(SCALE));
  });

  it("accepts numbers as booleans, like WebGPU's own constants", () => {
    expect(specialise(kernel, { ...given, NORM: 0 })).toContain("const NORM: bool = false;");
  });

  it.each([
    ["a missing one", { LANES: 64, NORM: true }, "no value for the constant SCALE"],
    ["an unknown one", { ...given, WIDTH: 4 }, "no constant WIDTH"],
    ["a negative size", { ...given, LANES: -1 }, "LANES can't be -1"],
    ["half a size", { ...given, LANES: 2.5 }, "LANES can't be 2.5"],
    ["no number", { ...given, SCALE: NaN }, "SCALE can't be NaN"],
    ["a float that is too large", { ...given, SCALE: 1e39 }, "SCALE can't be 1e+39"],
  ])("refuses %s by its name", (_, constants, message) => {
    const attempt = () => specialise(kernel, constants);
    expect(attempt).toThrow(ChorusError);
    expect(attempt).toThrow(`kernel probe`);
    expect(attempt).toThrow(message);
  });
});
