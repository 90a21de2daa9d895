import type { Gate, Graph, Linear, Matrix, NormWeights, Operation, Weight } from "../../models/graph.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import { gateBias, gateColumns, gateMatrix } from "../gate-weights.ts";
import type { MemoryMap } from "./memory-map.ts";
import { packRows, packTensor } from "./pack/pack-tensor.ts";
import { panelShape, strideOf, type PanelMatrix } from "./pack/panel-matrix.ts";
import type { Rows } from "./program/operation.ts";

/** A product's weights and bias in memory. */
export interface ProductWeights {
  readonly w: PanelMatrix;
  /** Address of the bias; 0: there is none. */
  readonly bias: number;
}

/** A norm's weights: gamma with its offset added, and beta, 0 where there is none. */
interface NormAddresses {
  readonly gamma: number;
  readonly beta: number;
}

/** Places a graph's weights in memory, each once, however many operations read it. */
export class WeightMemory {
  readonly #map: MemoryMap;
  readonly #dtype: WeightsDtype;
  readonly #matrices = new Map<Weight, { readonly packed: PanelMatrix; readonly isTransposed: boolean }>();
  readonly #gates = new Map<Linear, ProductWeights & { readonly operation: Gate }>();
  readonly #rows = new Map<Weight, Rows>();
  readonly #norms = new Map<NormWeights, NormAddresses>();
  /** Bytes of all weights, with their padding. */
  readonly bytes: number;

  constructor(map: MemoryMap, { operations }: Graph, dtype: WeightsDtype) {
    this.#map = map;
    this.#dtype = dtype;
    const bytesBefore = map.bytes;
    for (const operation of operations) this.#take(operation);
    this.bytes = map.bytes - bytesBefore;
  }

  matrix(matrix: Matrix): PanelMatrix {
    return there(this.#matrices.get(matrix)).packed;
  }

  /** Returns the learned positions. */
  positions(weight: Weight): Rows {
    return there(this.#rows.get(weight));
  }

  linear({ matrix, bias }: Linear): ProductWeights {
    return { w: this.matrix(matrix), bias: bias ? there(this.#rows.get(bias)).address : 0 };
  }

  /** Returns both products of a gate as one. */
  gate({ gate }: Gate): ProductWeights {
    const { w, bias } = there(this.#gates.get(gate));
    return { w, bias };
  }

  norm(norm: NormWeights): NormAddresses {
    return there(this.#norms.get(norm));
  }

  /** Reads every weight from its file into memory. */
  async load(weights: ModelWeights, memory: ArrayBufferLike): Promise<void> {
    for (const [weight, { packed, isTransposed }] of this.#matrices) {
      await packTensor(memory, packed, weights.tensor(weight), { isTransposed });
    }
    for (const [weight, { address, stride }] of this.#rows) {
      await packRows(memory, address, weights.tensor(weight), stride / 4);
    }
    const floats = new Float32Array(memory);
    for (const { w, bias, operation } of this.#gates.values()) {
      await packTensor(memory, w, gateMatrix(weights, operation), { isTransposed: true });
      if (bias !== 0) floats.set(await gateBias(weights, operation), bias / 4);
    }
    for (const [{ weight, bias, weightOffset = 0 }, { gamma, beta }] of this.#norms) {
      const tensor = weights.tensor(weight);
      await packRows(memory, gamma, tensor, strideOf(tensor.columns));
      for (let i = 0; i < tensor.columns; i++) floats[gamma / 4 + i] = (floats[gamma / 4 + i] ?? 0) + weightOffset;
      if (bias) await packRows(memory, beta, weights.tensor(bias), strideOf(tensor.columns));
    }
  }

  #take(operation: Operation): void {
    switch (operation.type) {
      case "embed":
        this.#takeMatrix(operation.table);
        if (operation.positions) this.#takeRows(operation.positions);
        return;
      case "norm":
        return this.#takeNorm(operation.norm);
      case "linear":
        return this.#takeLinear(operation.linear);
      case "gate":
        return this.#takeGate(operation);
      case "rotary":
        if (!operation.norms) return;
        this.#takeNorm(operation.norms.queries);
        return this.#takeNorm(operation.norms.keys);
      case "head":
        return this.#takeMatrix(operation.table);
      case "attention":
        return;
    }
  }

  #takeLinear({ matrix, bias }: Linear): void {
    this.#takeMatrix(matrix);
    if (bias) this.#takeRows(bias);
  }

  #takeGate(operation: Gate): void {
    const { gate, up } = operation;
    if (this.#gates.has(gate)) return;
    const w = this.#takePanels(gate.matrix.inputs, gateColumns(operation));
    const bias = gate.bias || up.bias ? this.#map.take(4 * w.nStride) : 0;
    this.#gates.set(gate, { w, bias, operation });
  }

  #takeMatrix(matrix: Matrix): void {
    if (this.#matrices.has(matrix)) return;
    const packed = this.#takePanels(matrix.inputs, matrix.outputs);
    this.#matrices.set(matrix, { packed, isTransposed: matrix.layout === "out-in" });
  }

  #takePanels(k: number, n: number): PanelMatrix {
    const shape = panelShape(k, n, this.#dtype);
    return { ...shape, address: this.#map.take(shape.bytes) };
  }

  /** Reserves a row for a vector, or for several joined vectors. */
  #takeRows(weight: Weight): void {
    if (this.#rows.has(weight)) return;
    const [first] = weight.tensors;
    const isVector = first?.shape.length === 1;
    const count = weight.tensors.reduce((sum, { shape }) => sum + (shape[0] ?? 0), 0);
    const [rows, columns] = isVector ? [1, count] : [count, first?.shape[1] ?? 0];
    const stride = 4 * strideOf(columns);
    this.#rows.set(weight, { address: this.#map.take(rows * stride), stride });
  }

  #takeNorm(norm: NormWeights): void {
    if (this.#norms.has(norm)) return;
    const bytes = 4 * strideOf(norm.weight.tensors[0]?.shape[0] ?? 0);
    // A LayerNorm's kernel always adds a beta.
    const hasBeta = norm.bias !== undefined || norm.kind === "layer";
    this.#norms.set(norm, { gamma: this.#map.take(bytes), beta: hasBeta ? this.#map.take(bytes) : 0 });
  }
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a weight of another graph");
  return value;
}
