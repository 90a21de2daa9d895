import { expect, it } from "vitest";

import { describeKernels } from "./describe-kernels.ts";
import type { KernelStyle } from "./kernel-style.ts";
import { defaultMatmuls } from "./matmul-variants.ts";
import { tileChoices } from "./query-tiles.ts";

const shape = {
  numLayers: 2,
  numHeads: 4,
  numKvHeads: 4,
  headDim: 64,
  hiddenSize: 256,
  vocabSize: 64,
  maxPositions: 1024,
};

function notes(
  style: KernelStyle,
  hasSubgroups: boolean,
  changes: Partial<Parameters<typeof describeKernels>[2]> = {},
  reason: Parameters<typeof describeKernels>[1]["reason"] = style === "plain" ? "no choice" : "measured",
) {
  const traits = { style, hasSubgroups };
  const variants = defaultMatmuls(traits);
  const described = { traits, kernels: "default", shape, maxLength: 1024, ...changes } as const;
  const [tiles] = tileChoices(traits, described.shape);
  return describeKernels({ variants, reason }, { variants: [tiles], reason }, described);
}

it("says which kernels a software adapter has, and why", () => {
  expect(notes("plain", true)).toEqual([
    "matmul kernels: row for 1 row, lane for up to 4 rows, subgroup for more (the only ones for such an adapter; a software adapter with subgroups)",
    "attention kernel: quads of lanes, reading the cache (a software adapter with subgroups); prompts: tiles of 4 rows (the only ones for such an adapter)",
  ]);
  expect(notes("plain", false)[1]).toBe(
    "attention kernel: a workgroup per row and head (a software adapter without subgroups); prompts: tiles of 8 rows (the only ones for such an adapter)",
  );
  const large = { shape: { ...shape, headDim: 128 } };
  expect(notes("plain", true, large)[1]).toMatch(/^attention kernel: a workgroup per row and head \(/);
});

it("says which kernels a GPU has, and when attention is split", () => {
  const [matmul, attention] = notes("fused", true);
  expect(matmul).toMatch(/^matmul kernels: skinny 1 x 16 x 8 for 1 row, .* \(the fastest of those measured now; a GPU/);
  expect(attention).toMatch(/splits for up to 64 rows from 512 positions on/);
  expect(attention).toMatch(
    /prompts: tiles of 8 rows in steps of 65 rows and more \(the fastest of those measured now\)$/,
  );
  expect(notes("fused", true, { maxLength: 256 })[1]).toMatch(/no splits, since no sequence has 512 positions/);
});

it("calls no kernel measured where some are not", () => {
  for (const note of notes("fused", true, {}, "untried"))
    expect(note).toContain("(not all measured, since the GPU was lost twice");
});

it("says that plain kernels run because default ones were refused or wrong", () => {
  for (const note of notes("plain", false, { kernels: "plain" }))
    expect(note).toMatch(/default ones were refused or computed wrong answers\)/);
});
