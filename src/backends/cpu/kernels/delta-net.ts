// What a gated delta net computes beside products: see DeltaNet in models/graph.ts.
//
//   state of a head    [valueDim / PANEL][keyDim][PANEL] f32      a panel's columns are computed together
//
// Each column of the state adds over keyDim in ascending order, one row of the step after the other. So a text has the same
// bits however it is cut into steps.

import type { DeltaNet } from "../../../models/graph.ts";
import { f32, f32x4, i32, v128 } from "../wasm/instructions.ts";
import type { ModuleBuilder } from "../wasm/module-builder.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { KERNELS } from "./signatures.ts";

/** What kernels of a model with delta nets are made for; all its layers have the same. */
export interface DeltaNetKernels extends Pick<DeltaNet, "keyHeads" | "valueHeads" | "keyDim" | "valueDim"> {
  readonly rateForm: DeltaNet["rate"]["form"];
}

/** Returns where the parts of a row of inputs begin: [q | k | v | beta | decay], in bytes. */
export function deltaOffsets({ keyHeads, valueHeads, keyDim, valueDim }: Omit<DeltaNetKernels, "rateForm">) {
  const k = 4 * keyHeads * keyDim;
  const beta = 2 * k + 4 * valueHeads * valueDim;
  const decay = beta + 16 * Math.ceil(valueHeads / 4);
  return { k, v: 2 * k, beta, decay, end: 2 * decay - beta };
}

const EPSILON = 1e-6;

export function defineDeltaNet(module: ModuleBuilder, math: Arithmetic, sizes: DeltaNetKernels): void {
  const { valueHeads, keyDim, rateForm } = sizes;
  const { k, beta, decay } = deltaOffsets(sizes);
  module.function("delta_inputs", KERNELS.delta_inputs, (f, { inputs, b, rate, dtBias }) => {
    f.for(0, beta, 16, (i) => {
      const at = f.i32(i32.add(inputs, i));
      const value = f.v128(v128.load(at));
      f.storeV128(at, math.silu(f, value));
    });
    const scale = f.f32(1 / Math.sqrt(keyDim));
    f.for(0, 2 * k, 4 * keyDim, (head) => {
      f.if(i32.eq(head, k), () => scale.set(1));
      const at = f.i32(i32.add(inputs, head));
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
    f.for(0, 4 * valueHeads, 16, (i) => {
      const row = f.i32(i32.add(b, i));
      const to = f.i32(i32.add(inputs, i));
      const time = f.v128(f32x4.add(v128.load(row, 4 * valueHeads), v128.load(i32.add(dtBias, i))));
      // log(1 + exp(x)), which is x where exp(x) is too large.
      const soft = f.v128(f32x4.pmax(time, math.log(f, f32x4.add(1, math.exp(f, time)))));
      const stored = f.v128(v128.load(i32.add(rate, i)));
      const negative = rateForm === "negative" ? stored : f32x4.neg(math.exp(f, stored));
      const opened = f.v128(v128.load(row));
      f.storeV128(to, math.sigmoid(f, opened), beta);
      f.storeV128(to, math.exp(f, f32x4.mul(negative, soft)), decay);
    });
  });
  defineDeltaRule(module, math, sizes);
}

function defineDeltaRule(module: ModuleBuilder, math: Arithmetic, sizes: DeltaNetKernels): void {
  const { keyDim, valueDim } = sizes;
  const offsets = deltaOffsets(sizes);
  const vectors = valueDim % 16 === 0 ? 4 : 1;
  const panelBytes = 16 * vectors;
  module.function("delta_rule", KERNELS.delta_rule, (f, { state, stride, y, yStride, rows, ...row }) => {
    const [sums, updates] = [f.vectors(vectors), f.vectors(vectors)];
    const [key, query, kept] = [f.v128(), f.v128(), f.v128()];
    f.for(0, 4 * valueDim, panelBytes, (column) => {
      const [from, to] = [f.i32(0), f.i32(i32.add(y, column))];
      f.for(0, rows, 1, () => {
        const at = (address: typeof row.q) => i32.add(address, from);
        const panel = f.i32(state);
        for (const sum of sums) sum.set(0);
        f.for(0, 4 * keyDim, 4, (i) => {
          key.set(v128.load32Splat(i32.add(at(row.q), i), offsets.k));
          sums.forEach((sum, j) => sum.set(math.madd(key, v128.load(panel, 16 * j), sum)));
          f.increment(panel, panelBytes);
        });
        kept.set(v128.load32Splat(at(row.beta), offsets.decay - offsets.beta));
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
          key.set(v128.load32Splat(i32.add(at(row.q), i), offsets.k));
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
