// onnxruntime's GroupQueryAttention in float64, as its description defines it: causal, queries, keys and values in one or
// each by itself, with rotation, for rows that end at the same position. For tests.

import type { Tensor } from "./parse-onnx.ts";

interface Attributes {
  readonly numHeads: number;
  readonly numKvHeads: number;
  readonly scale: number;
}

/** @returns the attended values [batch, new, heads * size], and keys and values [batch, kvHeads, all, size] */
export function groupQueryAttention(inputs: readonly Tensor[], { numHeads, numKvHeads, scale }: Attributes): Tensor[] {
  const [queries, newKeys, newValues, pastKeys, pastValues, lengthsBeforeLast, longest, cosines, sines] =
    inputs as Tensor[];
  if (
    !queries ||
    !newKeys ||
    !newValues ||
    !pastKeys ||
    !pastValues ||
    !lengthsBeforeLast ||
    !longest ||
    !cosines ||
    !sines
  ) {
    throw new Error("GroupQueryAttention: an input is missing.");
  }
  const qkv = newKeys.data.length === 0 ? queries : besideEachOther([queries, newKeys, newValues]);
  const [batch = NaN, numNew = NaN, width = NaN] = qkv.shape;
  const headDim = width / (numHeads + 2 * numKvHeads);
  const numPast = pastKeys.shape[2] ?? NaN;
  const numAll = longest.data[0] ?? NaN;
  if (numAll !== numPast + numNew) throw new Error(`${numPast} and ${numNew} positions are not ${numAll}.`);

  const headOf = (row: number, at: number, head: number) => {
    const first = (row * numNew + at) * width + head * headDim;
    return qkv.data.slice(first, first + headDim);
  };
  /** Position of a row's new token. */
  const positionOf = (row: number, at: number) => (lengthsBeforeLast.data[row] ?? NaN) + 1 - numNew + at;
  const turn = (head: readonly number[], position: number) => {
    const half = headDim / 2;
    return head.map((x, i) => {
      const angle = position * half + (i % half);
      const other = head[(i + half) % headDim] ?? NaN;
      return x * (cosines.data[angle] ?? NaN) + (i < half ? -other : other) * (sines.data[angle] ?? NaN);
    });
  };
  const append = (past: Tensor, headAt: (row: number, at: number, head: number) => number[]): Tensor => {
    const data: number[] = [];
    for (let row = 0; row < batch; row++) {
      for (let head = 0; head < numKvHeads; head++) {
        const first = (row * numKvHeads + head) * numPast * headDim;
        data.push(...past.data.slice(first, first + numPast * headDim));
        for (let at = 0; at < numNew; at++) data.push(...headAt(row, at, head));
      }
    }
    return { shape: [batch, numKvHeads, numAll, headDim], data };
  };
  const keys = append(pastKeys, (row, at, head) => turn(headOf(row, at, numHeads + head), positionOf(row, at)));
  const values = append(pastValues, (row, at, head) => headOf(row, at, numHeads + numKvHeads + head));

  const attended: number[] = [];
  for (let row = 0; row < batch; row++) {
    for (let at = 0; at < numNew; at++) {
      for (let head = 0; head < numHeads; head++) {
        const query = turn(headOf(row, at, head), positionOf(row, at));
        const kvHead = row * numKvHeads + Math.floor((head * numKvHeads) / numHeads);
        const vectorAt = ({ data }: Tensor, position: number) => {
          const first = (kvHead * numAll + position) * headDim;
          return data.slice(first, first + headDim);
        };
        const seen = Array.from({ length: positionOf(row, at) + 1 }, (_, position) => position);
        const powers = seen.map((position) => Math.exp(scale * dot(query, vectorAt(keys, position))));
        const sum = powers.reduce((total, power) => total + power, 0);
        const context = query.map(() => 0);
        for (const position of seen) {
          const weight = (powers[position] ?? NaN) / sum;
          vectorAt(values, position).forEach((value, i) => (context[i] = (context[i] ?? NaN) + weight * value));
        }
        attended.push(...context);
      }
    }
  }
  return [{ shape: [batch, numNew, numHeads * headDim], data: attended }, keys, values];
}

/** Rows of several tensors, one after the other. */
function besideEachOther(tensors: readonly Tensor[]): Tensor {
  const [{ shape } = { shape: [] }] = tensors;
  const widths = tensors.map((tensor) => tensor.shape.at(-1) ?? NaN);
  const numRows = shape.slice(0, -1).reduce((product, size) => product * size, 1);
  const rows = Array.from({ length: numRows }, (_, row) =>
    tensors.flatMap(({ data }, i) => data.slice(row * (widths[i] ?? NaN), (row + 1) * (widths[i] ?? NaN))),
  );
  return { shape: [...shape.slice(0, -1), widths.reduce((sum, width) => sum + width, 0)], data: rows.flat() };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, x, i) => sum + x * (b[i] ?? NaN), 0);
}
