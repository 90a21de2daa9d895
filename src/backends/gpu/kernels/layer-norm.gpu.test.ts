import { expect, it } from "vitest";

import {
  differingWords,
  expectClose,
  floatsOf,
  openTestDevice,
  randomFloats,
  runKernel,
} from "../../../../tests/gpu/gpu.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { layerNormReference, rmsNormReference } from "../../../../tests/references/reference.ts";
import { padRows, strideOf } from "../padding.ts";
import { layerNorm } from "./kernels.ts";

const { device } = await openTestDevice();
const EPSILON = 1e-5;

async function normalise(
  x: Float32Array,
  width: number,
  rows: number,
  {
    sampleRows = null,
    RMS = false,
    adds = false,
  }: { sampleRows?: number[] | null; RMS?: boolean; adds?: boolean } = {},
) {
  const gamma = randomFloats(width, 7);
  const beta = randomFloats(width, 8);
  const outputs = await runKernel(
    device,
    layerNorm,
    { K4: strideOf(width) / 4, RMS, WIDTH: width, EPSILON, ADD_TO_OUTPUT: adds },
    {
      x: padRows(x, rows, width),
      norm: padRows(new Float32Array([...gamma, ...beta]), 2, width),
      samples: packSamples((sampleRows ?? [...Array(rows).keys()]).map((row) => ({ row }))),
      y: new Float32Array(rows * strideOf(width)).fill(9),
    },
    [sampleRows?.length ?? rows, 1],
  );
  const row = (i: number) => floatsOf(outputs, "y").subarray(i * strideOf(width), (i + 1) * strideOf(width));
  const reference = RMS ? rmsNormReference : layerNormReference;
  const expected = (i: number) => reference(x.subarray(i * width, (i + 1) * width), gamma, beta, EPSILON);
  return { row, expected };
}

it.each([1, 2, 31, 32, 33, 64, 100, 257, 768])("normalises rows of %i values", async (width) => {
  const { row, expected } = await normalise(randomFloats(3 * width, 1, 4), width, 3);
  for (let i = 0; i < 3; i++) expectClose(row(i).subarray(0, width), expected(i), 2e-5);
});

it.each([1, 31, 33, 64, 100, 257])("divides rows of %i values by the root of their mean square", async (width) => {
  const x = randomFloats(3 * width, 1, 4).map((value) => value + 2);
  const { row, expected } = await normalise(x, width, 3, { RMS: true });
  for (let i = 0; i < 3; i++) expectClose(row(i).subarray(0, width), expected(i), 2e-5);
});

it.each([31, 64, 100])("adds rows of %i normalised values to what is there", async (width) => {
  const { row, expected } = await normalise(randomFloats(3 * width, 1, 4), width, 3, { RMS: true, adds: true });
  for (let i = 0; i < 3; i++) {
    expectClose(
      row(i).subarray(0, width),
      expected(i).map((value) => value + 9),
      2e-5,
    );
  }
});

it("keeps the padding of a row zero", async () => {
  const { row } = await normalise(randomFloats(40, 2), 40, 1);
  expect([...row(0).subarray(40)]).toEqual(Array.from({ length: 24 }, () => 0));
});

it("keeps a small deviation on a large mean", async () => {
  const x = randomFloats(96, 3, 0.5).map((value) => value + 1000);
  const { row, expected } = await normalise(x, 96, 1);
  expectClose(row(0).subarray(0, 96), expected(0), 2e-3);
});

it("normalises only the samples' rows, in the samples' order", async () => {
  const x = randomFloats(5 * 50, 4);
  const { row, expected } = await normalise(x, 50, 5, { sampleRows: [4, 1] });
  expectClose(row(0).subarray(0, 50), expected(4), 2e-5);
  expectClose(row(1).subarray(0, 50), expected(1), 2e-5);
});

it("gives a row the same bits alone and among others", async () => {
  const x = randomFloats(9 * 70, 5);
  const crowd = await normalise(x, 70, 9);
  const alone = await normalise(x.slice(8 * 70), 70, 1);
  expect(differingWords(crowd.row(8).slice().buffer, alone.row(0).slice().buffer)).toBe(0);
});
