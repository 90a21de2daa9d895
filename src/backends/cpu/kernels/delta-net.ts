// What a gated delta net computes beside products: see DeltaNet in models/graph.ts.
//
//   state of a head    [valueDim / PANEL][keyDim][PANEL] f32      a panel's columns are computed together
//
// Each column of the state adds over keyDim in ascending order, one row of the step after the other. So a text has the same
// bits however it is cut into steps.

import type { DeltaNet } from "../../../models/graph.ts";
import type { FunctionBuilder } from "../wasm/function-builder.ts";
import { f32, f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";

/** What kernels of a model with delta nets are made for; all its layers have the same. */
export interface DeltaNetKernels extends Pick<DeltaNet, "keyDim" | "valueDim"> {
  readonly rateForm: DeltaNet["rate"]["form"];
}

/** y = SiLU(y); `bytes` are rounded up to a vector. */
export type Silu = (y: number, bytes: number) => void;
/** y = y sigmoid(gates), or y SiLU(gates); `bytes` are rounded up to a vector. */
export type MultiplyByGate = (y: number, gates: number, bytes: number) => void;
/** Divides each head of a row by sqrt(sum of squares + 1e-6), and multiplies it by `scale`. */
export type UnitHeads = (x: number, heads: number, scale: number) => void;
/** beta = sigmoid(b), decay = exp(-rate softplus(a + dtBias)), of all heads. */
export type DeltaGates = (
  b: number,
  a: number,
  rate: number,
  dtBias: number,
  beta: number,
  decay: number,
  bytes: number,
) => void;
/** Takes rows into a head's state, in place, and writes what it answers to their queries. All but y are `stride` apart. */
export type DeltaRule = (
  state: number,
  q: number,
  k: number,
  v: number,
  beta: number,
  decay: number,
  stride: number,
  y: number,
  yStride: number,
  rows: number,
) => void;

const EPSILON = 1e-6;

export function defineGates(module: ModuleBuilder, math: Arithmetic): void {
  const gate = { y: "i32", gates: "i32", bytes: "i32" } as const;
  const each = (name: string, value: (f: FunctionBuilder, y: Vector, gates: Vector) => Vector) =>
    module.function(name, gate, (f, { y, gates, bytes }) => {
      f.for(0, bytes, 16, (i) => {
        const gated = f.v128(v128.load(i32.add(gates, i)));
        f.storeV128(i32.add(y, i), value(f, v128.load(i32.add(y, i)), gated));
      });
    });
  each("multiply_sigmoid", (f, y, gates) => f32x4.mul(y, math.sigmoid(f, gates)));
  each("multiply_silu", (f, y, gates) => f32x4.mul(y, math.silu(f, gates)));
}

export function defineDeltaNet(module: ModuleBuilder, math: Arithmetic, sizes: DeltaNetKernels): void {
  module.function("silu", { y: "i32", bytes: "i32" }, (f, { y, bytes }) => {
    f.for(0, bytes, 16, (i) => {
      const at = f.i32(i32.add(y, i));
      const value = f.v128(v128.load(at));
      f.storeV128(at, math.silu(f, value));
    });
  });
  defineUnitHeads(module, math, sizes);
  defineDeltaGates(module, math, sizes);
  defineDeltaRule(module, math, sizes);
}

function defineUnitHeads(module: ModuleBuilder, math: Arithmetic, { keyDim }: DeltaNetKernels): void {
  module.function("unit_heads", { x: "i32", heads: "i32", scale: "f32" }, (f, { x, heads, scale }) => {
    f.for(0, i32.mul(heads, 4 * keyDim), 4 * keyDim, (head) => {
      const at = f.i32(i32.add(x, head));
      const squares = f.v128(0);
      f.for(0, 4 * keyDim, 16, (i) => {
        const value = f.v128(v128.load(i32.add(at, i)));
        squares.set(math.madd(value, value, squares));
      });
      const length = f32.sqrt(f32.add(math.sumOfLanes(squares), EPSILON));
      const factor = f.v128(f32x4.splat(f32.div(scale, length)));
      f.for(0, 4 * keyDim, 16, (i) => {
        const from = f.i32(i32.add(at, i));
        f.storeV128(from, f32x4.mul(v128.load(from), factor));
      });
    });
  });
}

function defineDeltaGates(module: ModuleBuilder, math: Arithmetic, { rateForm }: DeltaNetKernels): void {
  const inputs = { b: "i32", a: "i32", rate: "i32", dtBias: "i32" } as const;
  const outputs = { beta: "i32", decay: "i32", bytes: "i32" } as const;
  module.function("delta_gates", { ...inputs, ...outputs }, (f, { b, a, rate, dtBias, beta, decay, bytes }) => {
    f.for(0, bytes, 16, (i) => {
      const time = f.v128(f32x4.add(v128.load(i32.add(a, i)), v128.load(i32.add(dtBias, i))));
      // log(1 + exp(x)), which is x where exp(x) is too large.
      const soft = f.v128(f32x4.pmax(time, math.log(f, f32x4.add(1, math.exp(f, time)))));
      const stored = f.v128(v128.load(i32.add(rate, i)));
      const negative = rateForm === "negative" ? stored : f32x4.neg(math.exp(f, stored));
      const opened = f.v128(v128.load(i32.add(b, i)));
      f.storeV128(i32.add(beta, i), math.sigmoid(f, opened));
      f.storeV128(i32.add(decay, i), math.exp(f, f32x4.mul(negative, soft)));
    });
  });
}

function defineDeltaRule(module: ModuleBuilder, math: Arithmetic, { keyDim, valueDim }: DeltaNetKernels): void {
  const parameters = { state: "i32", q: "i32", k: "i32", v: "i32", beta: "i32", decay: "i32" } as const;
  const others = { stride: "i32", y: "i32", yStride: "i32", rows: "i32" } as const;
  const vectors = valueDim % 16 === 0 ? 4 : 1;
  const panelBytes = 16 * vectors;
  module.function("delta_rule", { ...parameters, ...others }, (f, { state, stride, y, yStride, rows, ...row }) => {
    const [sums, updates] = [f.vectors(vectors), f.vectors(vectors)];
    const [key, query, kept] = [f.v128(), f.v128(), f.v128()];
    f.for(0, 4 * valueDim, panelBytes, (column) => {
      const [from, to] = [f.i32(0), f.i32(i32.add(y, column))];
      f.for(0, rows, 1, () => {
        const at = (address: typeof row.q) => i32.add(address, from);
        const panel = f.i32(state);
        for (const sum of sums) sum.set(0);
        f.for(0, 4 * keyDim, 4, (i) => {
          key.set(v128.load32Splat(i32.add(at(row.k), i)));
          sums.forEach((sum, j) => sum.set(math.madd(key, v128.load(panel, 16 * j), sum)));
          f.increment(panel, panelBytes);
        });
        kept.set(v128.load32Splat(at(row.decay)));
        const opened = f.v128(v128.load32Splat(at(row.beta)));
        const value = f.i32(i32.add(at(row.v), column));
        updates.forEach((update, j) => {
          const error = f32x4.sub(v128.load(value, 16 * j), f32x4.mul(kept, sums[j] ?? 0));
          update.set(f32x4.mul(opened, error));
        });
        for (const sum of sums) sum.set(0);
        panel.set(state);
        const changed = f.v128();
        f.for(0, 4 * keyDim, 4, (i) => {
          key.set(v128.load32Splat(i32.add(at(row.k), i)));
          query.set(v128.load32Splat(i32.add(at(row.q), i)));
          sums.forEach((sum, j) => {
            changed.set(math.madd(key, updates[j] ?? 0, f32x4.mul(kept, v128.load(panel, 16 * j))));
            f.storeV128(panel, changed, 16 * j);
            sum.set(math.madd(query, changed, sum));
          });
          f.increment(panel, panelBytes);
        });
        sums.forEach((sum, j) => f.storeV128(to, sum, 16 * j));
        f.increment(from, stride);
        f.increment(to, yStride);
      });
      f.increment(state, panelBytes * keyDim);
    });
  });
}
