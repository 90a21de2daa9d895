import { expect, it } from "vitest";

import { expectClose, floatsOf, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { padRows, padTransposed, strideOf } from "../padding.ts";
import { keepConvRows, shortConv } from "./kernels.ts";

const { device } = await openTestDevice();
const LANES = 64;
const BLOCK_SIZE = 8;
const MAX_BLOCKS = 4;

const SHAPES = [
  { width: 1, taps: 2, keptRows: 1 },
  { width: 7, taps: 3, keptRows: 2 },
  { width: 48, taps: 3, keptRows: 8 },
  { width: 65, taps: 5, keptRows: 4 },
  { width: 200, taps: 10, keptRows: 8 },
];

/** Sequences by slot: [first position of the step, rows]. One begins, one is in the middle of a block, one fills two. */
const STEP = [
  { slot: 2, start: 0, count: 5 },
  { slot: 0, start: 11, count: 1 },
  { slot: 3, start: 6, count: 17 },
  { slot: 1, start: 15, count: 2 },
];
const BLOCK_TABLES = Uint32Array.from({ length: 4 * MAX_BLOCKS }, (_, i) => (7 * i + 3) % (4 * MAX_BLOCKS));
const ROWS = STEP.flatMap(({ slot, start, count }) =>
  Array.from({ length: count }, (_, i) => ({ slot, start, position: start + i })),
);

it.each(SHAPES)("convolves and keeps $keptRows rows of $width values, with $taps taps", async (shape) => {
  const { width, taps, keptRows } = shape;
  const [X_STRIDE, Y_STRIDE, KEPT_STRIDE] = [strideOf(3 * width), strideOf(width), 4 * Math.ceil(width / 4)];
  const numKept = BLOCK_TABLES.length * keptRows * KEPT_STRIDE;
  const x = randomFloats(ROWS.length * 3 * width, 1);
  const weights = randomFloats(width * taps, 2);
  const kept = randomFloats(numKept, 3);
  const sizes = { LANES, WIDTH: width, X_STRIDE, KEPT_STRIDE, KEPT_ROWS: keptRows, BLOCK_SIZE, MAX_BLOCKS };
  const bound = {
    x: padRows(x, ROWS.length, 3 * width),
    kept,
    rows: new Uint32Array(ROWS.flatMap(({ slot, start, position }) => [0, position, slot, start])),
    block_tables: BLOCK_TABLES,
    step: Uint32Array.of(ROWS.length, 0, 0, 0),
  };
  const workgroups = [Math.ceil(width / LANES), ROWS.length] as const;
  const convolved = await runKernel(
    device,
    shortConv,
    { ...sizes, TAPS: taps, Y_STRIDE },
    { ...bound, weights: padTransposed(weights, width, taps), y: new Float32Array(ROWS.length * Y_STRIDE).fill(5) },
    workgroups,
  );
  const product = (row: number, i: number) => (x[3 * row * width + i] ?? NaN) * (x[(3 * row + 2) * width + i] ?? NaN);
  const placeOf = (slot: number, position: number) => {
    const block = BLOCK_TABLES[slot * MAX_BLOCKS + Math.floor(position / BLOCK_SIZE)] ?? NaN;
    return (block * keptRows + ((position % BLOCK_SIZE) % keptRows)) * KEPT_STRIDE;
  };
  ROWS.forEach(({ slot, start, position }, row) => {
    const expected = Float64Array.from({ length: width }, (_, i) => {
      let sum = 0;
      for (let t = 0; t < taps; t++) {
        const at = position - taps + 1 + t;
        const before = at < 0 ? 0 : at < start ? (kept[placeOf(slot, at) + i] ?? NaN) : product(row + at - position, i);
        sum += (weights[i * taps + t] ?? NaN) * before;
      }
      return sum * (x[(3 * row + 1) * width + i] ?? NaN);
    });
    expectClose(floatsOf(convolved, "y").subarray(row * Y_STRIDE, row * Y_STRIDE + width), expected, 1e-5);
  });
  // What is beside the rows is not written: padding of rows stays zero.
  expect(
    floatsOf(convolved, "y")
      .filter((_, i) => i % Y_STRIDE >= width)
      .every((value) => value === 5),
  ).toBe(true);

  const written = floatsOf(await runKernel(device, keepConvRows, sizes, bound, workgroups), "kept");
  const after = new Float32Array(kept);
  ROWS.forEach(({ slot, position }, row) => {
    for (let i = 0; i < width; i++) after[placeOf(slot, position) + i] = product(row, i);
  });
  expect(written.every((value, i) => value === after[i])).toBe(true);
});
