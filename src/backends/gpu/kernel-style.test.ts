import { expect, it } from "vitest";

import { kernelTraits } from "./kernel-style.ts";

it.each([
  {
    isSoftware: false,
    hasSubgroups: true,
    hasPackedDots: true,
    kernels: "default",
    traits: { style: "fused", hasSubgroups: true, hasFewRegisters: false, hasPackedDots: true },
  },
  {
    isSoftware: true,
    hasSubgroups: true,
    kernels: "default",
    traits: { style: "plain", hasSubgroups: true, hasFewRegisters: false, hasPackedDots: false },
  },
  {
    isSoftware: false,
    hasSubgroups: true,
    hasPackedDots: true,
    kernels: "plain",
    traits: { style: "plain", hasSubgroups: false, hasFewRegisters: false, hasPackedDots: false },
  },
  {
    isSoftware: true,
    hasSubgroups: true,
    kernels: "plain",
    traits: { style: "plain", hasSubgroups: false, hasFewRegisters: false, hasPackedDots: false },
  },
] as const)(
  "an adapter (software: $isSoftware) gets $traits.style kernels where $kernels ones are requested",
  (one) => {
    expect(kernelTraits(one, one.kernels)).toEqual(one.traits);
  },
);
