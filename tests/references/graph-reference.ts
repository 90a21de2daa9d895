// A model's graph in float64, one sequence at a time: what every backend is held to.

import { readF32 } from "../../src/files/tensor.ts";
import {
  frequenciesFor,
  normWeight,
  queryFactor,
  type Activation,
  type DeltaNet,
  type Linear,
  type NormWeights,
  type Operation,
  type Value,
  type Weight,
} from "../../src/models/graph.ts";
import type { ModelWeights } from "../../src/models/model-weights.ts";
import {
  attentionReference,
  cappedAt,
  geluErfReference,
  geluTanhReference,
  layerNormReference,
  relu2Reference,
  rmsNormReference,
  rotaryReference,
  sigmoidReference,
  siluReference,
} from "./reference.ts";

const ACTIVATIONS: Readonly<Record<Activation, (x: number) => number>> = {
  gelu_tanh: geluTanhReference,
  gelu_erf: geluErfReference,
  silu: siluReference,
  relu2: relu2Reference,
};

type Rows = Float64Array[];

/** Returns the logits [vocabSize] after the last token. */
export async function lastLogitsReference(weights: ModelWeights, tokens: readonly number[]): Promise<Float64Array> {
  const { graph, shape } = weights.model;
  const values = new Map<Value, Rows>();
  const rowsOf = (value: Value) => values.get(value) ?? fail(`value ${value} is read before it is written`);
  const sumWith = (value: Value) => (row: Float64Array, r: number) =>
    row.map((x, i) => x + (rowsOf(value)[r]?.[i] ?? 0));
  let logits: Float64Array = new Float64Array();

  const product = async ({ matrix, bias }: Linear, input: Rows): Promise<Rows> => {
    const w = await readF32(weights.tensor(matrix));
    const b = bias && (await readF32(weights.tensor(bias)));
    const { inputs, outputs, layout } = matrix;
    const [stepIn, stepOut] = layout === "in-out" ? [outputs, 1] : [1, inputs];
    // A column at a time, so that each is read from the file's layout once.
    const column = new Float64Array(inputs);
    const products = input.map(() => new Float64Array(outputs));
    for (let n = 0; n < outputs; n++) {
      for (let k = 0; k < inputs; k++) column[k] = w[k * stepIn + n * stepOut] ?? NaN;
      for (const [r, row] of products.entries()) row[n] = (b?.[n] ?? 0) + dot(input[r] ?? column, column);
    }
    return products;
  };

  const compute = async (operation: Operation): Promise<void> => {
    switch (operation.type) {
      case "embed": {
        const { table, positions, scale, output } = operation;
        const [wte, wpe] = [await read(weights, table), positions && (await read(weights, positions))];
        const width = table.inputs;
        const row = (token: number, position: number) =>
          Float64Array.from(
            { length: width },
            (_, i) => (wte[token * width + i] ?? 0) * scale + (wpe?.[position * width + i] ?? 0),
          );
        return void values.set(output, tokens.map(row));
      }
      case "norm": {
        const normalise = await normOf(weights, operation.norm);
        const normed = rowsOf(operation.input).map(normalise);
        return void values.set(
          operation.output,
          operation.addsToOutput ? normed.map(sumWith(operation.output)) : normed,
        );
      }
      case "linear": {
        const { linear, input, output, activation, addsToOutput } = operation;
        const act = activation ? ACTIVATIONS[activation] : (x: number) => x;
        const products = (await product(linear, rowsOf(input))).map((row) => row.map(act));
        return void values.set(output, addsToOutput ? products.map(sumWith(output)) : products);
      }
      case "gate": {
        const gates = await product(operation.gate, rowsOf(operation.input));
        const ups = await product(operation.up, rowsOf(operation.input));
        const act = ACTIVATIONS[operation.activation];
        const gated = gates.map((row, r) => row.map((x, i) => act(x) * (ups[r]?.[i] ?? 0)));
        return void values.set(operation.output, gated);
      }
      case "rotary": {
        const { angles, norms } = operation;
        const [ofQueries, ofKeys] = norms
          ? [await normOf(weights, norms.queries), await normOf(weights, norms.keys)]
          : [unchanged, unchanged];
        const { headDim, numHeads, numKvHeads, maxPositions } = shape;
        const frequencies = frequenciesFor(angles, maxPositions);
        const overHeads = (row: Float64Array, change: (head: Float64Array) => Float64Array) => {
          for (let at = 0; at < row.length; at += headDim) row.set(change(row.slice(at, at + headDim)), at);
        };
        rowsOf(operation.value).forEach((row, position) => {
          const queries = row.subarray(0, numHeads * headDim);
          const keys = row.subarray(queries.length, queries.length + numKvHeads * headDim);
          for (const [part, normalise] of [
            [queries, ofQueries],
            [keys, ofKeys],
          ] as const) {
            const scale = part === queries ? queryFactor(angles, position) : 1;
            const turn = () =>
              overHeads(part, (head) =>
                rotaryReference(head, position, frequencies, angles.scaling).map((x) => x * scale),
              );
            if (norms?.afterRotation) turn();
            if (norms?.over === "width") part.set(normalise(part.slice()));
            else overHeads(part, normalise);
            if (!norms?.afterRotation) turn();
          }
        });
        return;
      }
      case "attention": {
        const { numHeads, numKvHeads, headDim } = shape;
        const input = rowsOf(operation.input);
        const headsAt = (first: number, count: number) =>
          Array.from({ length: count }, (_, head) =>
            input.map((row) => row.subarray((first + head) * headDim, (first + head + 1) * headDim)),
          );
        const queries = headsAt(0, numHeads);
        const [keys, cached] = [headsAt(numHeads, numKvHeads), headsAt(numHeads + numKvHeads, numKvHeads)];
        const attend = (_row: Float64Array, position: number) => {
          const output = new Float64Array(numHeads * headDim);
          const seen = [Math.max(0, position + 1 - (operation.window ?? Infinity)), position + 1] as const;
          for (const [head, query] of queries.entries()) {
            const kvHead = Math.floor(head / (numHeads / numKvHeads));
            const [k, v] = [keys[kvHead]?.slice(...seen) ?? [], cached[kvHead]?.slice(...seen) ?? []];
            output.set(attentionReference(query[position] ?? [], k, v, operation), head * headDim);
          }
          return output;
        };
        return void values.set(operation.output, input.map(attend));
      }
      case "shortConv": {
        const { width, taps, input, output } = operation;
        const kernel = await read(weights, operation.kernel);
        const products = rowsOf(input).map((row) => row.slice(0, width).map((b, i) => b * (row[2 * width + i] ?? NaN)));
        const convolve = (row: Float64Array, r: number) =>
          row.slice(width, 2 * width).map((c, i) => {
            const at = (t: number) => products[r - taps + 1 + t]?.[i] ?? 0;
            return (
              c * Array.from({ length: taps }, (_, t) => (kernel[i * taps + t] ?? NaN) * at(t)).reduce((a, b) => a + b)
            );
          });
        return void values.set(output, rowsOf(input).map(convolve));
      }
      case "deltaNet":
        return void values.set(operation.output, await deltaNet(weights, operation, rowsOf(operation.input)));
      case "outputGate": {
        const { gates, firstColumn, value } = operation;
        const gated = rowsOf(value).map((row, r) =>
          row.map((x, i) => x * sigmoidReference(rowsOf(gates)[r]?.[firstColumn + i] ?? NaN)),
        );
        return void values.set(value, gated);
      }
      case "head":
        [logits = logits] = await product({ matrix: operation.table }, rowsOf(operation.input).slice(-1));
        logits = logits.map(cappedAt(operation.cap));
    }
  };
  for (const operation of graph.operations) await compute(operation);
  return logits;
}

async function deltaNet(weights: ModelWeights, net: DeltaNet, input: Rows): Promise<Rows> {
  const { taps, keyHeads, valueHeads, keyDim, valueDim, headOrder } = net;
  const [keys, values] = [keyHeads * keyDim, valueHeads * valueDim];
  const convWidth = 2 * keys + values;
  const kernel = await read(weights, net.kernel);
  const stored = await read(weights, net.rate.weight);
  const rates = Array.from(stored, (rate) => (net.rate.form === "log" ? Math.exp(rate) : -rate));
  const dtBias = await read(weights, net.dtBias);
  const normalise = await normOf(weights, net.norm);
  const states = rates.map(() => Array.from({ length: keyDim }, () => new Float64Array(valueDim)));
  const unit = (x: Float64Array) => x.map((one) => one / Math.sqrt(dot(x, x) + 1e-6));
  return input.map((row, r) => {
    const mixed = Float64Array.from({ length: convWidth }, (_, i) => {
      const terms = Array.from(
        { length: taps },
        (_tap, t) => (kernel[i * taps + t] ?? NaN) * valueAt(input, r - taps + 1 + t, i),
      );
      return siluReference(terms.reduce((a, b) => a + b));
    });
    const heads = rates.map((rate, head) => {
      const keyHead = headOrder === "tiled" ? head % keyHeads : Math.floor(head / (valueHeads / keyHeads));
      const part = (first: number, size: number) => mixed.slice(first, first + size);
      const q = unit(part(keyHead * keyDim, keyDim)).map((x) => x / Math.sqrt(keyDim));
      const k = unit(part(keys + keyHead * keyDim, keyDim));
      const v = part(2 * keys + head * valueDim, valueDim);
      const [b, a] = [0, 1].map((n) => row[convWidth + values + n * valueHeads + head] ?? NaN);
      const decay = Math.exp(-rate * Math.log1p(Math.exp((a ?? NaN) + (dtBias[head] ?? NaN))));
      const state = states[head] ?? [];
      for (const line of state) line.forEach((x, i) => (line[i] = x * decay));
      const error = v.map(
        (x, i) =>
          sigmoidReference(b ?? NaN) * (x - state.reduce((sum, line, d) => sum + (k[d] ?? NaN) * (line[i] ?? NaN), 0)),
      );
      state.forEach((line, d) => line.forEach((x, i) => (line[i] = x + (k[d] ?? NaN) * (error[i] ?? NaN))));
      const answer = v.map((_, i) => state.reduce((sum, line, d) => sum + (q[d] ?? NaN) * (line[i] ?? NaN), 0));
      return normalise(answer).map((x, i) => x * siluReference(row[convWidth + head * valueDim + i] ?? NaN));
    });
    return Float64Array.from(heads.flatMap((head) => [...head]));
  });
}

/** Rows before the first are zeros. */
function valueAt(rows: Rows, row: number, column: number): number {
  return rows[row]?.[column] ?? 0;
}

async function normOf(weights: ModelWeights, norm: NormWeights): Promise<(x: Float64Array) => Float64Array> {
  const gamma = (await read(weights, norm.weight)).map((value) => normWeight(norm, value));
  const beta = norm.bias ? await read(weights, norm.bias) : new Float32Array(gamma.length);
  const normalise = norm.kind === "rms" ? rmsNormReference : layerNormReference;
  return (x) => normalise(x, gamma, beta, norm.epsilon);
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += (a[i] ?? NaN) * (b[i] ?? NaN);
  return sum;
}

const unchanged = (x: Float64Array) => x;

function read(weights: ModelWeights, weight: Weight): Promise<Float32Array> {
  return readF32(weights.tensor(weight));
}

function fail(message: string): never {
  throw new Error(message);
}
