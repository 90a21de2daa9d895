import { describe, expect, it } from "vitest";

import {
  differingWords,
  expectClose,
  floatsOf,
  openTestDevice,
  randomFloats,
  runKernel,
} from "../../../../tests/gpu/gpu.ts";
import { rmsNormReference, siluReference } from "../../../../tests/references/reference.ts";
import { NO_STATE } from "../../../engine/step-plan.ts";
import { convWidthOf } from "../../../models/graph.ts";
import { padRows, padTransposed, strideOf } from "../padding.ts";
import { deltaConv, deltaRule, gatedNorm, outputGate } from "./kernels.ts";
import { deltaNetConstants, GPU_LANES, PLAIN_LANES, type StateLanes } from "./delta-net.ts";

const { device } = await openTestDevice();

interface Shape extends Readonly<Record<"keyHeads" | "valueHeads" | "keyDim" | "valueDim" | "taps", number>> {
  readonly headOrder: "grouped" | "tiled";
}

const SHAPES: readonly Shape[] = [
  { keyHeads: 1, valueHeads: 1, keyDim: 16, valueDim: 16, taps: 4, headOrder: "grouped" },
  { keyHeads: 2, valueHeads: 4, keyDim: 20, valueDim: 13, taps: 4, headOrder: "grouped" },
  { keyHeads: 2, valueHeads: 6, keyDim: 36, valueDim: 7, taps: 2, headOrder: "tiled" },
  { keyHeads: 1, valueHeads: 2, keyDim: 128, valueDim: 128, taps: 4, headOrder: "grouped" },
];

interface Part {
  readonly count: number;
  readonly from: number;
  readonly to: number;
  readonly keeps?: readonly (readonly [rows: number, slot: number])[];
}

/** One begins, one goes on in place, one keeps states on its way, one begins where that did, one keeps nothing. */
const PARTS: readonly Part[] = [
  { count: 5, from: NO_STATE, to: 2, keeps: [[2, 4]] },
  { count: 1, from: 0, to: 0 },
  // prettier-ignore
  { count: 19, from: 1, to: 3, keeps: [[1, 5], [2, 6], [18, 7]] },
  { count: 2, from: 1, to: 8 },
  { count: 2, from: NO_STATE, to: NO_STATE },
];
const NUM_SLOTS = 9;

/** A delta net's sizes, and random weights. */
function netOf(shape: Shape) {
  const { keyHeads, valueHeads, keyDim, valueDim, taps } = shape;
  const convWidth = convWidthOf(shape);
  const valueWidth = valueHeads * valueDim;
  const convWords = (taps - 1) * convWidth;
  return {
    ...shape,
    keyWidth: keyHeads * keyDim,
    convWidth,
    valueWidth,
    width: convWidth + valueWidth + 2 * valueHeads,
    convWords,
    stateWords: convWords + valueHeads * keyDim * valueDim,
    kernel: randomFloats(convWidth * taps, 2),
    rates: randomFloats(valueHeads, 3).map((value) => -Math.exp(3 * value)),
    biases: randomFloats(valueHeads, 4),
  };
}
type Net = ReturnType<typeof netOf>;

const sigmoid = (x: number) => 1 / (1 + Math.exp(-x));
const at = (values: ArrayLike<number>, i: number) => values[i] ?? NaN;

/** Goes on from a state by one row in float64: changes the state, and returns the row after the convolution and q S. */
function referenceRow(net: Net, state: Float64Array, x: ArrayLike<number>) {
  const { keyHeads, valueHeads, keyDim, valueDim, taps, convWidth, valueWidth, keyWidth, convWords } = net;
  const prepared = Float64Array.from({ length: net.width }, (_, i) => at(x, i));
  for (let i = 0; i < convWidth; i++) {
    const rows = Array.from({ length: taps }, (_, t) => (t < taps - 1 ? at(state, t * convWidth + i) : at(x, i)));
    prepared[i] = siluReference(rows.map((row, t) => row * at(net.kernel, i * taps + t)).reduce((a, b) => a + b));
    rows.slice(1).forEach((row, t) => (state[t * convWidth + i] = row));
  }
  const output = new Float64Array(valueWidth);
  for (let head = 0; head < valueHeads; head++) {
    const gates = convWidth + valueWidth + head;
    prepared[gates] = sigmoid(at(x, gates));
    const softplus = Math.log1p(Math.exp(at(x, gates + valueHeads) + at(net.biases, head)));
    prepared[gates + valueHeads] = Math.exp(at(net.rates, head) * softplus);
    const [beta, decay] = [at(prepared, gates), at(prepared, gates + valueHeads)];
    const keyHead = net.headOrder === "tiled" ? head % keyHeads : Math.floor(head / (valueHeads / keyHeads));
    const unit = (first: number) => {
      const vector = prepared.subarray(first + keyHead * keyDim, first + (keyHead + 1) * keyDim);
      return vector.map((value) => value / Math.sqrt(vector.reduce((sum, one) => sum + one * one, 1e-6)));
    };
    const [query, key] = [unit(0).map((value) => value / Math.sqrt(keyDim)), unit(keyWidth)];
    const matrix = state.subarray(convWords + head * keyDim * valueDim, convWords + (head + 1) * keyDim * valueDim);
    for (let column = 0; column < valueDim; column++) {
      const value = at(prepared, 2 * keyWidth + head * valueDim + column);
      const read = key.reduce((sum, k, i) => sum + k * decay * at(matrix, i * valueDim + column), 0);
      key.forEach((k, i) => {
        matrix[i * valueDim + column] = decay * at(matrix, i * valueDim + column) + k * beta * (value - read);
      });
      output[head * valueDim + column] = query.reduce((sum, q, i) => sum + q * at(matrix, i * valueDim + column), 0);
    }
  }
  return { prepared, output };
}

/** Runs both kernels over the rows of x [rows, width], which the parts take in their order. */
async function run(
  net: Net,
  parts: readonly Part[],
  x: Float32Array,
  states: Float32Array<ArrayBuffer>,
  lanes: StateLanes,
) {
  const { convWidth, valueWidth, valueHeads, width, taps } = net;
  const rows = x.length / width;
  let row = 0;
  const kept = new Uint32Array(rows).fill(NO_STATE);
  const sequences = parts.flatMap(({ count, from, to, keeps = [] }) => {
    for (const [after, slot] of keeps) kept[row + after - 1] = slot;
    row += count;
    return [row - count, count, from, to];
  });
  const bound = { sequences: Uint32Array.from(sequences), kept, step: Uint32Array.of(rows, 0, 0, 0) };
  const { ofConv, ofRule } = deltaNetConstants(net, lanes);
  const rates = padRows(Float32Array.of(...net.rates, ...net.biases), 2, net.valueHeads);
  const convolved = await runKernel(
    device,
    deltaConv,
    ofConv,
    { ...bound, weights: padTransposed(net.kernel, convWidth, taps), rates, x: padRows(x, rows, width), states },
    [Math.ceil((convWidth + 2 * valueHeads) / ofConv.LANES), parts.length],
  );
  const prepared = floatsOf(convolved, "x").slice();
  const ruled = await runKernel(
    device,
    deltaRule,
    ofRule,
    {
      ...bound,
      x: prepared,
      states: floatsOf(convolved, "states").slice(),
      y: new Float32Array(rows * strideOf(valueWidth)),
    },
    [Math.ceil(net.valueDim / lanes.COLUMNS), valueHeads, parts.length],
  );
  return { prepared, y: floatsOf(ruled, "y"), states: floatsOf(ruled, "states") };
}

const rowOf = (values: Float32Array, row: number, width: number) =>
  values.subarray(row * strideOf(width), row * strideOf(width) + width);

describe.each(SHAPES)("$keyHeads heads of $keyDim keys, $valueHeads of $valueDim values, $taps taps", (shape) => {
  const net = netOf(shape);
  const { width, valueWidth, stateWords } = net;
  const numRows = PARTS.reduce((sum, { count }) => sum + count, 0);
  const x = randomFloats(numRows * width, 1).map((value) => 2 * value);
  const states = randomFloats(NUM_SLOTS * stateWords, 5);

  it("is what float64 says, and writes only the states that it should", async () => {
    const got = await run(net, PARTS, x, states, GPU_LANES);
    const expected = Float64Array.from(states);
    const slotOf = (slot: number) => expected.subarray(slot * stateWords, (slot + 1) * stateWords);
    const keep = (slot: number, state: Float64Array) => slot !== NO_STATE && slotOf(slot).set(state);
    let row = 0;
    for (const { count, from, to, keeps = [] } of PARTS) {
      const state = from === NO_STATE ? new Float64Array(stateWords) : slotOf(from).slice();
      for (let i = 1; i <= count; i++, row++) {
        const { prepared, output } = referenceRow(net, state, x.subarray(row * width, (row + 1) * width));
        expectClose(rowOf(got.prepared, row, width), prepared, 1e-6 * net.taps);
        expectClose(rowOf(got.y, row, valueWidth), output, 1e-5);
        for (const [after, slot] of keeps) if (after === i) keep(slot, state);
      }
      keep(to, state);
    }
    expectClose(got.states, expected, 1e-5);
    const isUntouched = (slot: number) => got.states.subarray(slot * stateWords, (slot + 1) * stateWords);
    expect(isUntouched(1)).toEqual(states.subarray(stateWords, 2 * stateWords));
    expect(got.y.every((value, i) => i % strideOf(valueWidth) < valueWidth || value === 0)).toBe(true);
  });

  it("has the same bits however lanes share a column", async () => {
    const [many, one] = [await run(net, PARTS, x, states, GPU_LANES), await run(net, PARTS, x, states, PLAIN_LANES)];
    expect(differingWords(many.y.slice().buffer, one.y.slice().buffer)).toBe(0);
    expect(differingWords(many.states.slice().buffer, one.states.slice().buffer)).toBe(0);
  });

  it("has the same bits in one step and in several, beside others", async () => {
    const rows = x.subarray(0, 12 * width);
    const whole = await run(net, [{ count: 12, from: NO_STATE, to: 0 }], rows, states, GPU_LANES);
    let after = states;
    let row = 0;
    for (const count of [1, 2, 9]) {
      const beside = { count: 3, from: 5, to: 6 };
      const own = x.subarray(row * width, (row + count) * width);
      const both = Float32Array.of(...x.subarray(0, 3 * width), ...own);
      const parts = [beside, { count, from: row === 0 ? NO_STATE : 0, to: 0 }];
      const got = await run(net, parts, both, after, GPU_LANES);
      after = got.states.slice();
      for (let i = 0; i < count; i++) {
        expect(rowOf(got.y, 3 + i, valueWidth)).toEqual(rowOf(whole.y, row + i, valueWidth));
      }
      row += count;
    }
    expect(after.subarray(0, stateWords)).toEqual(whole.states.subarray(0, stateWords));
  });

  it("normalises each head's values, times SiLU of the gate", async () => {
    const { valueDim, valueHeads, convWidth } = net;
    const [y, norm] = [randomFloats(numRows * valueWidth, 6), randomFloats(valueDim, 7)];
    const { ofNorm } = deltaNetConstants(net, GPU_LANES);
    const outputs = await runKernel(
      device,
      gatedNorm,
      { ...ofNorm, EPSILON: 1e-6 },
      {
        x: padRows(x, numRows, width),
        norm,
        y: padRows(y, numRows, valueWidth),
        step: Uint32Array.of(numRows, 0, 0, 0),
      },
      [valueHeads, numRows],
    );
    const expected = Float64Array.from(y);
    for (let first = 0; first < y.length; first += valueDim) {
      const z = Math.floor(first / valueWidth) * width + convWidth + (first % valueWidth);
      const normed = rmsNormReference(y.subarray(first, first + valueDim), norm, new Float32Array(valueDim), 1e-6);
      expected.set(
        normed.map((value, i) => value * siluReference(at(x, z + i))),
        first,
      );
    }
    expectClose(floatsOf(outputs, "y"), padRows(Float32Array.from(expected), numRows, valueWidth), 1e-5);
  });
});

it("keeps a state for long where the gate says so, forgets it at once, and hands on what is no number", async () => {
  const net = {
    ...netOf({ ...SHAPES[0], valueHeads: 6 } as Shape),
    biases: new Float32Array(6),
    rates: new Float32Array(6).fill(-1),
  };
  const [betas, gates] = [
    [-200, -20, 0, 20, 200, NaN],
    [-200, -10, 0, 40, 200, NaN],
  ];
  const x = new Float32Array(net.width).fill(0.5);
  x.set([...betas, ...gates], net.convWidth + net.valueWidth);
  const { prepared } = await run(
    net,
    [{ count: 1, from: NO_STATE, to: 0 }],
    x,
    new Float32Array(net.stateWords),
    GPU_LANES,
  );
  const got = prepared.subarray(net.convWidth + net.valueWidth, net.width);
  const decays = gates.map((gate) => Math.exp(-(Math.max(gate, 0) + Math.log1p(Math.exp(-Math.abs(gate))))));
  expectClose(got.subarray(0, 5), betas.slice(0, 5).map(sigmoid), 2e-7);
  expectClose(got.subarray(6, 11), decays.slice(0, 5), 2e-7);
  expect([got[5], got[11]]).toEqual([NaN, NaN]);
});

it.each([
  { width: 1, first: 0 },
  { width: 70, first: 33 },
])("gates $width columns by those from $first on", async ({ width, first }) => {
  const [rows, gatesWidth] = [3, first + width + 2];
  const [y, gates] = [randomFloats(rows * width, 1), randomFloats(rows * gatesWidth, 2).map((value) => 9 * value)];
  const outputs = await runKernel(
    device,
    outputGate,
    { LANES: 64, WIDTH: width, FIRST: first, GATES_STRIDE: strideOf(gatesWidth), Y_STRIDE: strideOf(width) },
    { gates: padRows(gates, rows, gatesWidth), y: padRows(y, rows, width), step: Uint32Array.of(rows, 0, 0, 0) },
    [Math.ceil(width / 64), rows],
  );
  const gated = y.map(
    (value, i) => value * sigmoid(at(gates, Math.floor(i / width) * gatesWidth + first + (i % width))),
  );
  expectClose(floatsOf(outputs, "y"), padRows(gated, rows, width), 1e-6);
});
