// Chorus's own reader of GGUF has the values that the quantisation says.

import { describe, expect, it } from "vitest";

import { GGML_TYPES, readBlocks } from "../../src/files/gguf/ggml-types.ts";
import { unpackRows } from "../../src/files/packing.ts";
import { seededRandom } from "../seeded-random.ts";
import { quantise, QUANTISATIONS, toBlocks, valuesOf } from "./quantise.ts";

const random = seededRandom(3);
// A group of zeros, and one whose scale is subnormal as a half.
const VALUES = Float32Array.from({ length: 640 }, (_, i) => (i < 32 ? 0 : (random() - 0.5) * (i < 64 ? 1e-5 : 2)));

describe.each(/** @type {const} */ (["Q8_0", "Q4_0"]))("%s", (type) => {
  const quantised = quantise(VALUES, type);

  it("has each value to half a step, but where the step was rounded or the largest has no opposite", () => {
    const { bits } = QUANTISATIONS[type];
    for (const [i, value] of valuesOf(quantised, type).entries()) {
      const step = Math.abs(quantised.scales[Math.floor(i / 32)] ?? 0);
      const error = Math.abs(value - (VALUES[i] ?? NaN));
      expect(error).toBeLessThanOrEqual((bits === 8 ? 0.6 : 1.01) * step + 2 ** -24);
    }
  });

  it("is read from its blocks, to the bit", () => {
    const form = GGML_TYPES.get(QUANTISATIONS[type].ggmlType)?.form;
    if (typeof form !== "object") throw new Error("no blocks");
    expect(unpackRows(form.packing, readBlocks(form, toBlocks(quantised, type)))).toEqual(valuesOf(quantised, type));
  });
});
