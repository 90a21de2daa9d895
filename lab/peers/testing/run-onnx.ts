// Runs an ONNX graph in float64, as its operators are defined: as slow as it is plain. For tests, of the operators that
// onnx-decoder.ts uses.

import { BOOL } from "../onnx.ts";
import { groupQueryAttention } from "./group-query-attention.ts";
import type { OnnxNode, ParsedOnnx, Tensor } from "./parse-onnx.ts";

export function runOnnx(
  { nodes, constants, inputs, outputs }: ParsedOnnx,
  given: Readonly<Record<string, Tensor>>,
): Map<string, Tensor> {
  const values = new Map(constants);
  for (const name of inputs) values.set(name, find(new Map(Object.entries(given)), name));
  for (const node of nodes) {
    const results = runNode(
      node,
      node.inputs.map((name) => (name === "" ? NOTHING : find(values, name))),
    );
    node.outputs.forEach((name, i) => {
      if (name === "") return;
      const result = results[i];
      if (!result) throw new Error(`${node.operator} puts out ${results.length} values, not ${node.outputs.length}.`);
      values.set(name, result);
    });
  }
  return new Map(outputs.map((name) => [name, find(values, name)]));
}

function find(values: ReadonlyMap<string, Tensor>, name: string): Tensor {
  const value = values.get(name);
  if (!value) throw new Error(`"${name}" is used before it is computed.`);
  return value;
}

/** An optional input that is left out. */
const NOTHING: Tensor = { shape: [0], data: [] };

/** Returns an item, or NaN if there is none, so that a mistake shows. */
const get = (list: readonly number[], index: number) => list.at(index) ?? NaN;
const sizeOf = (shape: readonly number[]) => shape.reduce((product, size) => product * size, 1);
const vector = (data: readonly number[]): Tensor => ({ shape: [data.length], data });
const scalar = (value: number): Tensor => ({ shape: [], data: [value] });
const gelu = (x: number) => (x / 2) * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));

/** The multi-index of a flat index. */
function unravel(flat: number, shape: readonly number[]): number[] {
  const index: number[] = [];
  for (let axis = shape.length - 1, rest = flat; axis >= 0; axis--) {
    const size = get(shape, axis);
    index[axis] = rest % size;
    rest = Math.floor(rest / size);
  }
  return index;
}

/** The element at an index that is broadcast to the tensor: axes are matched from the last, those of size 1 repeat. */
function at({ shape, data }: Tensor, index: readonly number[]): number {
  const shift = index.length - shape.length;
  return get(
    data,
    shape.reduce((flat, size, axis) => flat * size + (size === 1 ? 0 : get(index, axis + shift)), 0),
  );
}

function fill(shape: readonly number[], valueAt: (index: number[]) => number): Tensor {
  return { shape, data: Array.from({ length: sizeOf(shape) }, (_, flat) => valueAt(unravel(flat, shape))) };
}

function broadcast(tensors: readonly Tensor[], combine: (x: number, y: number, z: number) => number): Tensor {
  const rank = Math.max(...tensors.map(({ shape }) => shape.length));
  const shape = Array.from({ length: rank }, (_, axis) =>
    Math.max(...tensors.map((tensor) => tensor.shape[axis - rank + tensor.shape.length] ?? 1)),
  );
  return fill(shape, (index) => {
    const [x = NaN, y = NaN, z = NaN] = tensors.map((tensor) => at(tensor, index));
    return combine(x, y, z);
  });
}

/** Each last-axis row by itself. */
function byRow({ shape, data }: Tensor, change: (row: number[]) => number[]): Tensor {
  const width = get(shape, -1);
  const rows = Array.from({ length: data.length / width }, (_, row) => data.slice(row * width, (row + 1) * width));
  return { shape, data: rows.flatMap(change) };
}

function runNode({ operator, attributes }: OnnxNode, inputs: readonly Tensor[]): Tensor[] {
  const [a, b, c, d] = inputs as [Tensor, Tensor, Tensor, Tensor];
  const attribute = (name: string) => attributes.get(name) ?? [];
  const axisIn = (tensor: Tensor) => (get(attribute("axis"), 0) + tensor.shape.length) % tensor.shape.length;
  switch (operator) {
    case "Add":
      return [broadcast(inputs, (x, y) => x + y)];
    case "Sub":
      return [broadcast(inputs, (x, y) => x - y)];
    case "Mul":
      return [broadcast(inputs, (x, y) => x * y)];
    case "And":
      return [broadcast(inputs, (x, y) => Number(x !== 0 && y !== 0))];
    case "LessOrEqual":
      return [broadcast(inputs, (x, y) => Number(x <= y))];
    case "Where":
      return [broadcast(inputs, (condition, x, y) => (condition ? x : y))];
    case "FastGelu":
      return [broadcast(inputs, (x, bias) => gelu(x + bias))];
    case "Neg":
      return [broadcast(inputs, (x) => -x)];
    case "Sigmoid":
      return [broadcast(inputs, (x) => 1 / (1 + Math.exp(-x)))];
    case "Cast":
      return [get(attribute("to"), 0) === BOOL ? broadcast(inputs, (x) => Number(x !== 0)) : a];
    case "ReduceSum":
      return [{ shape: a.shape.slice(0, -1), data: byRow(a, (row) => [sumOf(row)]).data }];
    case "Shape":
      return [vector(a.shape)];
    case "Range":
      return [vector(Array.from({ length: get(b.data, 0) - get(a.data, 0) }, (_, i) => get(a.data, 0) + i))];
    case "Gather": {
      if (a.shape.length === 1) return [scalar(get(a.data, get(b.data, 0)))];
      const width = get(a.shape, 1);
      return [
        { shape: [...b.shape, width], data: b.data.flatMap((row) => a.data.slice(row * width, (row + 1) * width)) },
      ];
    }
    case "Unsqueeze": {
      const shape = [...a.shape];
      for (const axis of b.data) shape.splice(axis, 0, 1);
      return [{ shape, data: a.data }];
    }
    case "Reshape":
      return [{ shape: reshape(a, b.data), data: a.data }];
    case "Transpose": {
      const order = attribute("perm");
      const shape = order.map((axis) => get(a.shape, axis));
      return [
        fill(shape, (index) =>
          at(
            a,
            order.map((_, axis) => get(index, order.indexOf(axis))),
          ),
        ),
      ];
    }
    case "Concat": {
      const axis = axisIn(a);
      const shape = a.shape.with(axis, get(a.shape, axis) + get(b.shape, axis));
      const fromA = get(a.shape, axis);
      return [
        fill(shape, (index) =>
          get(index, axis) < fromA ? at(a, index) : at(b, index.with(axis, get(index, axis) - fromA)),
        ),
      ];
    }
    case "Split": {
      const axis = axisIn(a);
      let begin = 0;
      return b.data.map((size) => {
        const first = begin;
        begin += size;
        return fill(a.shape.with(axis, size), (index) => at(a, index.with(axis, get(index, axis) + first)));
      });
    }
    case "Slice": {
      const axis = get(d.data, 0);
      const first = get(b.data, 0) + get(a.shape, axis);
      const shape = a.shape.with(axis, Math.min(get(c.data, 0), get(a.shape, axis)) - first);
      return [fill(shape, (index) => at(a, index.with(axis, get(index, axis) + first)))];
    }
    case "MatMul":
      return [multiply(a, b)];
    case "MatMulNBits": {
      const [width = 0, height = 0, bits = 0, group = 0] = ["K", "N", "bits", "block_size"].flatMap(attribute);
      // [height, groups, bytes], by onnxruntime's definition: of 4 bits the even columns are the low ones.
      const integerAt = (i: number) =>
        bits === 8 ? get(b.data, i) : (get(b.data, Math.floor(i / 2)) >> (4 * (i % 2))) & 15;
      const weights = Array.from({ length: width * height }, (_, place) => {
        const i = (place % height) * width + Math.floor(place / height);
        return (integerAt(i) - 2 ** (bits - 1)) * get(c.data, Math.floor(i / group));
      });
      return [multiply(a, { shape: [width, height], data: weights })];
    }
    case "Softmax":
      return [byRow(a, softmax)];
    case "LayerNormalization":
      return [byRow(a, (row) => normalize(row, b.data, c.data, get(attribute("epsilon"), 0)))];
    case "SimplifiedLayerNormalization":
      return [byRow(a, (row) => scaleToUnit(row, b.data, get(attribute("epsilon"), 0)))];
    case "SkipSimplifiedLayerNormalization": {
      const sum = broadcast([a, b], (x, y) => x + y);
      const normed = byRow(sum, (row) => scaleToUnit(row, c.data, get(attribute("epsilon"), 0)));
      return [normed, NOTHING, NOTHING, sum];
    }
    case "GroupQueryAttention":
      if (get(attribute("do_rotary"), 0) !== 1) throw new Error("Only GroupQueryAttention that rotates is known here.");
      return groupQueryAttention(inputs, {
        numHeads: get(attribute("num_heads"), 0),
        numKvHeads: get(attribute("kv_num_heads"), 0),
        scale: get(attribute("scale"), 0),
      });
    default:
      throw new Error(`The operator ${operator} is not known here.`);
  }
}

/** Matrices of the last two axes; those of the second repeat where it has no others. */
function multiply(a: Tensor, b: Tensor): Tensor {
  const inner = get(a.shape, -1);
  const columns = get(b.shape, -1);
  const rowsOfMatrix = b.shape.length > 2 ? get(a.shape, -2) : Infinity;
  const data: number[] = [];
  for (let row = 0; row < a.data.length / inner; row++) {
    const first = rowsOfMatrix === Infinity ? 0 : Math.floor(row / rowsOfMatrix) * inner * columns;
    for (let column = 0; column < columns; column++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) {
        sum += (a.data[row * inner + k] ?? NaN) * (b.data[first + k * columns + column] ?? NaN);
      }
      data.push(sum);
    }
  }
  return { shape: [...a.shape.slice(0, -1), columns], data };
}

/** 0 keeps the axis. */
function reshape({ shape, data }: Tensor, sizes: readonly number[]): number[] {
  const result = sizes.map((size, axis) => (size === 0 ? get(shape, axis) : size));
  if (sizeOf(result) !== data.length) throw new Error(`[${shape.join()}] cannot become [${result.join()}].`);
  return result;
}

function softmax(row: readonly number[]): number[] {
  const largest = Math.max(...row);
  const powers = row.map((x) => Math.exp(x - largest));
  const sum = sumOf(powers);
  return powers.map((x) => x / sum);
}

function normalize(
  row: readonly number[],
  weight: readonly number[],
  bias: readonly number[],
  epsilon: number,
): number[] {
  const mean = sumOf(row) / row.length;
  const variance = sumOf(row.map((x) => (x - mean) ** 2)) / row.length;
  return row.map((x, i) => ((x - mean) / Math.sqrt(variance + epsilon)) * get(weight, i) + get(bias, i));
}

/** RMSNorm. */
function scaleToUnit(row: readonly number[], weight: readonly number[], epsilon: number): number[] {
  const meanSquare = sumOf(row.map((x) => x * x)) / row.length;
  return row.map((x, i) => (x / Math.sqrt(meanSquare + epsilon)) * get(weight, i));
}

function sumOf(row: readonly number[]): number {
  return row.reduce((total, x) => total + x, 0);
}
