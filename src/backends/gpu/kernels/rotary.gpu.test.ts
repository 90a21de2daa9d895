import { expect, it } from "vitest";

import { expectClose, floatsOf, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { rmsNormReference, rotaryReference } from "../../../../tests/references/reference.ts";
import { queryFactor } from "../../../models/graph.ts";
import { rotaryTable } from "../operations/rotation.ts";
import { padRows, strideOf } from "../padding.ts";
import { rotary } from "./kernels.ts";

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

interface Norms {
  readonly queries: Heads;
  readonly keys: Heads;
  readonly over: "head" | "width";
  readonly afterRotation: boolean;
}

/** Runs the kernel on random rows, and the reference on each of their heads. */
async function turn(
  { heads, kvHeads, headSize, lanes }: Shape,
  norms: Norms | null,
  queryGrowth?: { readonly beta: number; readonly period: number },
) {
  const width = (heads + 2 * kvHeads) * headSize;
  const frequencies = Array.from({ length: headSize / 2 }, (_, i) => 10_000 ** ((-2 * i) / headSize));
  const qkv = randomFloats(POSITIONS.length * width, 1);
  const kind = {
    KV_HEADS: kvHeads,
    QUERY_ANGLES: queryGrowth ? (512 * headSize) / 2 : 0,
    NORMED: norms !== null,
    OVER_WIDTH: norms?.over === "width",
    AFTER_ROTATION: norms?.afterRotation ?? false,
    EPSILON,
  };
  const angles = { inverseFrequencies: frequencies, scaling: 1, ...(queryGrowth && { queryGrowth }) };
  const outputs = await runKernel(
    device,
    rotary,
    { LANES: lanes, HEADS: heads, HEAD_SIZE: headSize, QKV_STRIDE: strideOf(width), ...kind },
    {
      angles: rotaryTable(angles, 512),
      query_norm: norms?.queries ?? new Float32Array(4),
      key_norm: norms?.keys ?? new Float32Array(4),
      rows: new Uint32Array(POSITIONS.flatMap((position) => [0, position, 0, position])),
      qkv: padRows(qkv, POSITIONS.length, width),
    },
    [norms?.over === "width" ? 2 : heads + kvHeads, POSITIONS.length],
  );
  const stride = strideOf(width);
  const turned = (r: number) => floatsOf(outputs, "qkv").subarray(r * stride, (r + 1) * stride);
  const expected = (r: number) => {
    const row = new Float64Array(stride);
    row.set(qkv.subarray(r * width, (r + 1) * width));
    const position = POSITIONS[r] ?? NaN;
    for (const [first, count, gamma] of [
      [0, heads, norms?.queries],
      [heads, kvHeads, norms?.keys],
    ] as const) {
      const part = row.subarray(first * headSize, (first + count) * headSize);
      const growth = first === 0 ? queryFactor(angles, position) : 1;
      const eachHead = (change: (head: Float64Array) => Float64Array) => {
        for (let at = 0; at < part.length; at += headSize) part.set(change(part.slice(at, at + headSize)), at);
      };
      const rotate = () => eachHead((head) => rotaryReference(head, position, frequencies).map((x) => x * growth));
      const normalise = (values: Float64Array) =>
        gamma ? rmsNormReference(values, gamma, new Float32Array(values.length), EPSILON) : values;
      if (norms?.afterRotation) rotate();
      if (norms?.over === "width") part.set(normalise(part.slice()));
      else eachHead(normalise);
      if (!norms?.afterRotation) rotate();
    }
    return row;
  };
  return { turned, expected };
}

it.each(SHAPES)("turns $heads query and $kvHeads key heads of $headSize by their positions", async (shape) => {
  const { turned, expected } = await turn(shape, null);
  for (const r of POSITIONS.keys()) expectClose(turned(r), expected(r), 1e-6);
});

it.each(
  SHAPES.flatMap((shape) =>
    (["head", "width"] as const).flatMap((over) =>
      [false, true].map((afterRotation) => ({ ...shape, over, afterRotation })),
    ),
  ),
)(
  "normalises $heads query and $kvHeads key heads of $headSize, over a $over, after the rotation: $afterRotation",
  async ({ over, afterRotation, ...shape }) => {
    const gamma = (heads: number, seed: number) => randomFloats(shape.headSize * (over === "width" ? heads : 1), seed);
    const weights = { queries: gamma(shape.heads, 2), keys: gamma(shape.kvHeads, 3) };
    const { turned, expected } = await turn(shape, { ...weights, over, afterRotation });
    for (const r of POSITIONS.keys()) expectClose(turned(r), expected(r), 5e-6);
  },
);

it.each(SHAPES)(
  "lets queries alone grow with their positions: $heads and $kvHeads heads of $headSize",
  async (shape) => {
    const { turned, expected } = await turn(shape, null, { beta: 0.3, period: 40 });
    for (const r of POSITIONS.keys()) expectClose(turned(r), expected(r), 2e-6);
  },
);

it("scales cosine and sine if the angles have a scale", () => {
  const table = rotaryTable({ inverseFrequencies: [1], scaling: 0.5 }, 2);
  expectClose(table, [0.5, 0, 0.5 * Math.cos(1), 0.5 * Math.sin(1)], 1e-7);
  expect(table).toHaveLength(4);
  const long = { inverseFrequencies: [1], scaling: 0.5, long: { from: 10, inverseFrequencies: [2] } };
  expect(rotaryTable(long, 2, 20)).toEqual(rotaryTable({ inverseFrequencies: [2], scaling: 0.5 }, 2));
});
