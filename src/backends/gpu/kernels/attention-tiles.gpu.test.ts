// Rows of a sequence that share each load of a key and of a value.

import { describe, expect, it } from "vitest";

import { attend, expectAttention, rowsOf, type KernelName, type Shape } from "../../../../tests/gpu/attend.ts";
import { differingWords, openTestDevice } from "../../../../tests/gpu/gpu.ts";

const { device, hasSubgroups } = await openTestDevice();
const KERNELS: readonly KernelName[] = hasSubgroups ? ["attention", "attention-quad"] : ["attention"];

const ODD = { heads: 4, kvHeads: 2, headSize: 33, cacheDtype: "f16", window: 13 } as const;
const WIDE = { heads: 1, headSize: 64, cacheDtype: "f16", window: 70 } as const;
const tileRowsOf = (kernel: KernelName) => (kernel === "attention" ? 8 : 4);

describe("tiles of rows", () => {
  const shapes: Omit<Shape, "kernel">[] = [{ heads: 3, headSize: 5, cacheDtype: "f32" }, ODD, WIDE];
  // A prompt in two pieces, whose second begins and ends amid a tile; a decode row, drafts, and a prompt of a tile.
  const steps = [
    [...rowsOf(0, 0, 61), ...rowsOf(1, 0, 7)],
    [...rowsOf(1, 7, 8), ...rowsOf(0, 61, 190), ...rowsOf(2, 0, 8)],
    [...rowsOf(2, 8, 11), ...rowsOf(0, 190, 277)],
  ];
  it.each(shapes.flatMap((shape) => KERNELS.map((kernel) => ({ ...shape, kernel }))))(
    "have the bits of the rows by themselves ($kernel, $heads heads of $headSize, $cacheDtype, window: $window)",
    async (shape) => {
      const alone = await attend(device, shape, steps);
      expect(alone.every(Number.isFinite)).toBe(true);
      expect(alone.some((value) => value !== 0)).toBe(true);
      const tiled = await attend(device, { ...shape, tileRows: tileRowsOf(shape.kernel) }, steps);
      expect(differingWords(alone.slice().buffer, tiled.slice().buffer)).toBe(0);
    },
  );

  it.each(KERNELS)("%s: are softmax(q k) v over odd sizes", async (kernel) => {
    const shape = { kernel, ...ODD, tileRows: tileRowsOf(kernel) };
    const rows = rowsOf(0, 35, 90);
    expectAttention(await attend(device, shape, [rowsOf(0, 0, 35), rows]), shape, rows);
  });

  it.each(KERNELS)("%s: a row does not read what only the rows after it see", async (kernel) => {
    // Their values are infinite; times a weight of zero that would be no number.
    const shape = { kernel, ...WIDE, tileRows: tileRowsOf(kernel), infiniteFrom: 70 };
    const result = await attend(device, shape, [rowsOf(0, 0, 72)]);
    expect(result.subarray(0, 70 * 64).every(Number.isFinite)).toBe(true);
    expect(result.subarray(70 * 64, 72 * 64).some(Number.isFinite)).toBe(false);
  });
});
