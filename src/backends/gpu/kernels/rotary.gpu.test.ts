import { expect, it } from "vitest";

import { expectClose, floatsOf, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { rmsNormReference, rotaryReference } from "../../../../tests/references/reference.ts";
import { rotaryTable } from "../operations/rotation.ts";
import { padRows, strideOf } from "../padding.ts";
import { rotary } from "./rotary.ts";

const { device } = await openTestDevice();
const EPSILON = 1e-5;
const POSITIONS = [0, 1, 77, 511];

const SHAPES = [
  { heads: 1, kvHeads: 1, headSize: 2, lanes: 32 },
  { heads: 3, kvHeads: 1, headSize: 6, lanes: 4 },
  { heads: 4, kvHeads: 2, headSize: 32, lanes: 4 },
  { heads: 9, kvHeads: 3, headSize: 64, lanes: 32 },
  { heads: 2, kvHeads: 1, headSize: 110, lanes: 32 },
];

type Shape = (typeof SHAPES)[number];
type Heads = Float32Array<ArrayBuffer>;

/** Runs the kernel on random rows, and the reference on each of their heads. */
async function turn({ heads, kvHeads, headSize, lanes }: Shape, norms: { queries: Heads; keys: Heads } | null) {
  const width = (heads + 2 * kvHeads) * headSize;
  const frequencies = Array.from({ length: headSize / 2 }, (_, i) => 10_000 ** ((-2 * i) / headSize));
  const qkv = randomFloats(POSITIONS.length * width, 1);
  const kind = { NORMED: norms !== null, EPSILON };
  const outputs = await runKernel(
    device,
    rotary,
    { LANES: lanes, HEADS: heads, HEAD_SIZE: headSize, QKV_STRIDE: strideOf(width), ...kind },
    {
      angles: rotaryTable({ inverseFrequencies: frequencies, scaling: 1 }, 512),
      query_norm: norms?.queries ?? new Float32Array(4),
      key_norm: norms?.keys ?? new Float32Array(4),
      rows: new Uint32Array(POSITIONS.flatMap((position) => [0, position, 0, position])),
      qkv: padRows(qkv, POSITIONS.length, width),
    },
    [heads + kvHeads, POSITIONS.length],
  );
  const stride = strideOf(width);
  const turned = (r: number) => floatsOf(outputs, "qkv").subarray(r * stride, (r + 1) * stride);
  const noBeta = new Float32Array(headSize);
  const expected = (r: number) => {
    const row = new Float64Array(stride);
    row.set(qkv.subarray(r * width, (r + 1) * width));
    for (let head = 0; head < heads + kvHeads; head++) {
      const own = row.slice(head * headSize, (head + 1) * headSize);
      const gamma = head < heads ? norms?.queries : norms?.keys;
      const normed = gamma ? rmsNormReference(own, gamma, noBeta, EPSILON) : own;
      row.set(rotaryReference(normed, POSITIONS[r] ?? NaN, frequencies), head * headSize);
    }
    return row;
  };
  return { turned, expected };
}

it.each(SHAPES)("turns $heads query and $kvHeads key heads of $headSize by their positions", async (shape) => {
  const { turned, expected } = await turn(shape, null);
  for (const r of POSITIONS.keys()) expectClose(turned(r), expected(r), 1e-6);
});

it.each(SHAPES)("normalises $heads query and $kvHeads key heads of $headSize before it turns them", async (shape) => {
  const norms = { queries: randomFloats(shape.headSize, 2), keys: randomFloats(shape.headSize, 3) };
  const { turned, expected } = await turn(shape, norms);
  for (const r of POSITIONS.keys()) expectClose(turned(r), expected(r), 5e-6);
});

it("scales cosine and sine if the angles have a scale", () => {
  const table = rotaryTable({ inverseFrequencies: [1], scaling: 0.5 }, 2);
  expectClose(table, [0.5, 0, 0.5 * Math.cos(1), 0.5 * Math.sin(1)], 1e-7);
  expect(table).toHaveLength(4);
});
