import { describe, expect, it } from "vitest";

import { attend, expectAttention, rowsOf, type KernelName, type Shape } from "../../../../tests/gpu/attend.ts";
import { differingWords, openTestDevice } from "../../../../tests/gpu/gpu.ts";
import type { KvCacheDtype } from "../../../protocol/config.ts";
import { strideOf } from "../padding.ts";
import {
  attentionTile,
  isSplit,
  MAX_HEAD_SIZE,
  mostQueries,
  QUAD_HEAD_VEC4,
  quadShares,
  sharedQueries,
  splitFloats,
  UNLIMITED_WINDOW,
} from "./attention.ts";

const { device, hasSubgroups } = await openTestDevice();

// Where the device has no subgroups the latter is not used. What comes in splits is held to the bits of what does not.
const KERNELS: readonly KernelName[] = hasSubgroups ? ["attention", "attention-quad"] : ["attention"];

const CASES = KERNELS.flatMap((kernel) => (["f32", "f16"] as const).map((cacheDtype) => ({ kernel, cacheDtype })));

type Size = Pick<Shape, "heads" | "kvHeads" | "headSize" | "window" | "cap">;

/**
 * Compiling takes most of the time. Each number of vectors of a head, last vector's length, group and kind of window is here
 * once or twice, not with all the others; windows and what follows use kernels of these.
 */
const SHAPES: readonly Size[] = [
  { heads: 1, headSize: 1 },
  { heads: 3, headSize: 5 },
  { heads: 2, headSize: 16, window: 1 },
  { heads: 12, kvHeads: 2, headSize: 12, window: 16 },
  { heads: 4, kvHeads: 1, headSize: 33 },
  { heads: 4, kvHeads: 2, headSize: 64 },
  { heads: 10, kvHeads: 2, headSize: 7, window: 1000, cap: 0.2 },
  { heads: 1, headSize: 260 },
  { heads: 1, headSize: MAX_HEAD_SIZE },
];

/** Of halves only the reading differs: odd sizes, and groups of heads. */
const SHAPES_OF_HALVES: readonly Size[] = [
  { heads: 12, kvHeads: 2, headSize: 12 },
  { heads: 4, kvHeads: 1, headSize: 33 },
  { heads: 14, kvHeads: 2, headSize: 20 },
];

/** Whose splits have 128 positions, 65, and 126. The last position is within the third split. */
const SPLIT_SHAPES: Record<KvCacheDtype, readonly (Size & { readonly last: number })[]> = {
  f32: [
    { heads: 3, headSize: 5, last: 301 },
    { heads: 1, headSize: 260, last: 151 },
  ],
  f16: [{ heads: 12, kvHeads: 2, headSize: 12, last: 301 }],
};

describe.each(CASES)("$kernel over a cache of $cacheDtype", ({ kernel, cacheDtype }) => {
  const fits = ({ headSize }: Size) => kernel === "attention" || headSize <= 4 * QUAD_HEAD_VEC4;

  it.each((cacheDtype === "f32" ? SHAPES : SHAPES_OF_HALVES).filter(fits))(
    "with $heads heads of $headSize is softmax(q k) v, of $window positions with its own where it has a window, its scores capped where they have a cap",
    async ({ heads, kvHeads = heads, window = UNLIMITED_WINDOW, ...others }) => {
      const shape = { kernel, heads, kvHeads, window, ...others, cacheDtype };
      const steps = [
        [...rowsOf(0, 0, 61), ...rowsOf(1, 0, 3)],
        [...rowsOf(1, 3, 18), ...rowsOf(0, 61, 71)],
      ];
      expectAttention(await attend(device, shape, steps), shape, steps[1] ?? []);
    },
  );

  it.each(SPLIT_SHAPES[cacheDtype].filter(fits))(
    "holds for a context of several splits, the last of them begun and ended within it: $heads heads of $headSize",
    async ({ last, ...one }) => {
      const shape = { kernel, ...one, cacheDtype };
      const row = { slot: 0, position: last };
      expectAttention(await attend(device, shape, [rowsOf(0, 0, last), [row]]), shape, [row]);
    },
  );

  const WHOLE = {
    f32: { heads: 3, headSize: 5, sees: "all" },
    f16: { heads: 12, kvHeads: 2, headSize: 12, window: 50, cap: 0.3, sees: "a window, its scores capped," },
  };
  it(`gives a row that sees ${WHOLE[cacheDtype].sees} the same bits, whole, in pieces, alone or among others`, async () => {
    const shape = { kernel, ...WHOLE[cacheDtype], cacheDtype };
    const row = { slot: 0, position: 137 };
    const others = rowsOf(2, 0, 40);
    const whole = await attend(device, shape, [rowsOf(0, 0, 138)]);
    const pieces = await attend(device, shape, [
      rowsOf(0, 0, 5),
      [...others, ...rowsOf(0, 5, 64)],
      rowsOf(0, 64, 137),
      [row],
    ]);
    const stride = strideOf(shape.heads * shape.headSize);
    expect(differingWords(whole.slice(137 * stride).buffer, pieces.slice().buffer)).toBe(0);
  });
});

it.each(KERNELS)(
  "%s: query heads that share a load of keys and values have the bits of each by itself",
  async (kernel) => {
    const headSize = kernel === "attention" ? 12 : 20;
    const shape = { kernel, heads: 14, headSize, kvHeads: 2, cacheDtype: "f16" } as const;
    const steps = [rowsOf(0, 0, 70), [...rowsOf(1, 0, 2), ...rowsOf(0, 70, 73)]];
    const alone = await attend(device, { ...shape, queries: 1 }, steps);
    const together = await attend(device, shape, steps);
    // Of a group's seven heads four and three.
    const inTwoPasses = await attend(device, { ...shape, queries: 4 }, steps);
    expect(alone.some((value) => value !== 0)).toBe(true);
    expect(differingWords(alone.slice().buffer, together.slice().buffer)).toBe(0);
    expect(differingWords(alone.slice().buffer, inTwoPasses.slice().buffer)).toBe(0);
  },
);

it("quads take as many heads of a group as they can, as evenly as they can", () => {
  expect(quadShares(12, 12)).toEqual({ QUERIES: 1, LANES: 16, workgroups: 3 }); // GPT-2
  expect(quadShares(25, 25)).toEqual({ QUERIES: 1, LANES: 16, workgroups: 7 }); // GPT-2 XL: three of 28 are idle
  expect(quadShares(9, 3)).toEqual({ QUERIES: 3, LANES: 4, workgroups: 3 }); // SmolLM2-135M
  expect(quadShares(14, 2)).toEqual({ QUERIES: 4, LANES: 8, workgroups: 2 }); // Qwen2.5-0.5B: 4 and 3
  expect(quadShares(32, 8)).toEqual({ QUERIES: 4, LANES: 16, workgroups: 2 }); // Llama-3.2-1B
  expect(quadShares(10, 2)).toEqual({ QUERIES: 3, LANES: 8, workgroups: 2 });
  expect(quadShares(4, 1)).toEqual({ QUERIES: 2, LANES: 4, workgroups: 2 });
  expect(quadShares(1, 1)).toEqual({ QUERIES: 1, LANES: 4, workgroups: 1 });
});

it("as many heads share a load as a workgroup has room for", () => {
  expect(sharedQueries(9, 3, 8)).toEqual({ QUERIES: 3, workgroups: 3 }); // SmolLM2-135M
  expect(sharedQueries(14, 2, 8)).toEqual({ QUERIES: 7, workgroups: 2 }); // Qwen2.5-0.5B
  expect(sharedQueries(14, 2, 4)).toEqual({ QUERIES: 4, workgroups: 4 }); // where registers are few
  expect(sharedQueries(16, 8, 7)).toEqual({ QUERIES: 2, workgroups: 8 }); // Qwen3-0.6B
  expect(sharedQueries(22, 2, 8)).toEqual({ QUERIES: 6, workgroups: 4 });
  expect(sharedQueries(8, 1, 1)).toEqual({ QUERIES: 1, workgroups: 8 });
  const mostOf = (hasFewRegisters: boolean) => [16, 20, 32, 64, 256].map((vec4) => mostQueries(vec4, hasFewRegisters));
  expect([mostOf(false), mostOf(true)]).toEqual([
    [8, 8, 7, 6, 1],
    [4, 4, 4, 4, 1],
  ]);
});

describe("splits", () => {
  it.each([
    { heads: 12, kvHeads: 2, headSize: 12, window: 50, cacheDtype: "f16", end: 301 },
    { heads: 3, headSize: 5, cacheDtype: "f32", end: 301 },
    { heads: 1, headSize: 260, cacheDtype: "f32", end: 151 },
  ] as const)(
    "give the bits that one workgroup gives ($heads heads of $headSize, window: $window)",
    async ({ heads, headSize, cacheDtype, end, ...rest }) => {
      const { kvHeads = heads, window = UNLIMITED_WINDOW } = rest as { kvHeads?: number; window?: number };
      const shape = { heads, kvHeads, headSize, window, cacheDtype };
      const steps = [rowsOf(0, 0, end - 2), [...rowsOf(1, 0, 2), ...rowsOf(0, end - 2, end)]];
      const alone = await attend(device, { ...shape, kernel: "attention" }, steps);
      const inSplits = await attend(device, { ...shape, kernel: "attention in splits" }, steps);
      expect(alone.some((value) => value !== 0)).toBe(true);
      expect(differingWords(alone.slice().buffer, inSplits.slice().buffer)).toBe(0);
    },
  );

  it("are for steps of few rows and a long context, and have their room", () => {
    expect([isSplit(1, 512), isSplit(64, 1024)]).toEqual([true, true]);
    expect([isSplit(1, 511), isSplit(65, 1024)]).toEqual([false, false]);
    // 64 rows of 12 heads, 8 splits of 128: 64 values, highest and total, padded to four
    expect(splitFloats({ numHeads: 12, headDim: 64 }, { maxRows: 256, maxLength: 1024 })).toBe(64 * 12 * 8 * 68);
    expect(splitFloats({ numHeads: 12, headDim: 64 }, { maxRows: 4, maxLength: 1000 })).toBe(4 * 12 * 8 * 68);
    for (const headVec4 of [1, 3, 16, 20, 32, 65, 256]) {
      const { LANES, SPLIT } = attentionTile(headVec4);
      expect(SPLIT % LANES).toBe(0);
      expect(SPLIT).toBeGreaterThan(64);
    }
  });
});
