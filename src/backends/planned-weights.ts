// The weights of a graph as kernels read them: each once, however many operations read it. A backend lays them out before any is
// read from its file.

import { readF32, type Tensor } from "../files/tensor.ts";
import {
  convWidthOf,
  normWeight,
  type DeltaNet,
  type Gate,
  type Linear,
  type Matrix,
  type NormWeights,
  type Weight,
} from "../models/graph.ts";
import type { Model } from "../models/model.ts";
import type { ModelWeights } from "../models/model-weights.ts";
import { gateLayout, layoutsOf, type LayoutPart } from "../models/weight-layouts.ts";
import type { WeightsDtype } from "../protocol/config.ts";
import { gateBias, gateColumns, gateMatrix } from "./gate-weights.ts";

type Floats = Float32Array<ArrayBuffer>;

/** The matrix of a product, or of an embedding and the head. */
interface PlannedMatrix {
  readonly label: string;
  readonly inputs: number;
  /** Parts of its outputs that are kept alike. */
  readonly parts: readonly LayoutPart[];
  /** Whether the tensor is [outputs, inputs]; else [inputs, outputs]. */
  readonly isTransposed: boolean;
  readonly tensor: (weights: ModelWeights) => Tensor;
  /** Returns a value for each output; null: there is no bias. */
  readonly readBias: ((weights: ModelWeights) => Promise<Floats>) | null;
}

/** Rows of f32. */
interface PlannedRows {
  readonly label: string;
  readonly rows: number;
  readonly columns: number;
  /** Whether the columns are those of all heads together. [false] */
  readonly areHeads?: boolean;
  readonly read: (weights: ModelWeights) => Promise<Floats>;
}

/** An operation finds its weights by what its part of the graph has of them. */
export interface PlannedWeights {
  /** By a product's linear (of a gate the first one), or a table. */
  readonly matrices: ReadonlyMap<Linear | Matrix, PlannedMatrix>;
  /**
   * Learned positions. Of a norm: gamma, beta or zeros. Of a convolution: a row for each tap. Of a delta net, by its rates: these,
   * biases.
   */
  readonly rows: ReadonlyMap<Weight | NormWeights, PlannedRows>;
}

/** @param rateOf returns a delta net's rate as its kernel reads it [as stored] */
export function planWeights(
  model: Model,
  dtype: WeightsDtype | "stored",
  rateOf: (stored: number, form: DeltaNet["rate"]["form"]) => number = (stored) => stored,
): PlannedWeights {
  const matrices = new Map<Linear | Matrix, PlannedMatrix>();
  const rows = new Map<Weight | NormWeights, PlannedRows>();

  const addMatrix = (label: string, key: Linear | Matrix, matrix: Matrix, bias: Weight | null = null) => {
    if (matrices.has(key)) return;
    matrices.set(key, {
      label,
      inputs: matrix.inputs,
      parts: layoutsOf(model, matrix, dtype),
      isTransposed: matrix.layout === "out-in",
      tensor: (weights) => weights.tensor(matrix),
      readBias: bias && ((weights) => readF32(weights.tensor(bias))),
    });
  };
  const addGate = (operation: Gate) => {
    const { label, gate, up } = operation;
    const layout = gateLayout(model, operation, dtype);
    matrices.set(gate, {
      label,
      inputs: gate.matrix.inputs,
      parts: [{ firstOutput: 0, outputs: gateColumns(operation), layout }],
      isTransposed: true,
      tensor: (weights) => gateMatrix(weights, operation),
      readBias: gate.bias || up.bias ? (weights) => gateBias(weights, operation) : null,
    });
  };
  const addPositions = (positions: Weight) => {
    const [count = 0, columns = 0] = positions.tensors[0]?.shape ?? [];
    const read = (weights: ModelWeights) => readF32(weights.tensor(positions));
    rows.set(positions, { label: nameOf(positions), rows: count, columns, read });
  };
  const addNorm = (label: string, norm: NormWeights, areHeads = false) => {
    const { weight, bias } = norm;
    const columns = weight.tensors[0]?.shape[0] ?? 0;
    const read = async (weights: ModelWeights) => {
      const values = new Float32Array(2 * columns);
      values.set((await readF32(weights.tensor(weight))).map((value) => normWeight(norm, value)));
      if (bias) values.set(await readF32(weights.tensor(bias)), columns);
      return values;
    };
    rows.set(norm, { label, rows: 2, columns, areHeads, read });
  };
  const addConvolution = (label: string, kernel: Weight, columns: number, taps: number) => {
    const read = async (weights: ModelWeights) => {
      const values = await readF32(weights.tensor(kernel));
      return Float32Array.from(values, (_, i) => values[(i % columns) * taps + Math.floor(i / columns)] ?? 0);
    };
    rows.set(kernel, { label, rows: taps, columns, read });
  };
  const addRates = ({ label, rate, dtBias, valueHeads: columns }: DeltaNet) => {
    const read = async (weights: ModelWeights) => {
      const values = new Float32Array(2 * columns);
      values.set((await readF32(weights.tensor(rate.weight))).map((stored) => rateOf(stored, rate.form)));
      values.set(await readF32(weights.tensor(dtBias)), columns);
      return values;
    };
    rows.set(rate.weight, { label: `${label} rates`, rows: 2, columns, read });
  };

  for (const operation of model.graph.operations) {
    const { label } = operation;
    switch (operation.type) {
      case "embed":
      case "head":
        addMatrix(nameOf(operation.table), operation.table, operation.table);
        if (operation.type === "embed" && operation.positions) addPositions(operation.positions);
        break;
      case "norm":
        addNorm(label, operation.norm);
        break;
      case "linear":
        addMatrix(label, operation.linear, operation.linear.matrix, operation.linear.bias);
        break;
      case "gate":
        addGate(operation);
        break;
      case "rotary":
        for (const of of ["queries", "keys"] as const) {
          const { norms } = operation;
          if (norms) addNorm(`${label} ${of}`, norms[of], norms.over === "width");
        }
        break;
      case "shortConv":
        addConvolution(label, operation.kernel, operation.width, operation.taps);
        break;
      case "deltaNet":
        addConvolution(label, operation.kernel, convWidthOf(operation), operation.taps);
        addRates(operation);
        addNorm(`${label} norm`, operation.norm);
        break;
      case "attention":
      case "outputGate":
    }
  }
  return { matrices, rows };
}

function nameOf({ tensors }: Weight): string {
  return tensors[0]?.name ?? "weight";
}

/** Returns the weight of a key. @throws Error if it is of another graph */
export function weightOf<Key, Value>(weights: ReadonlyMap<Key, Value>, key: Key): Value {
  const weight = weights.get(key);
  if (weight === undefined) throw new Error("a weight of another graph");
  return weight;
}
