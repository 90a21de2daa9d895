import type { WeightLayout } from "../../files/packing.ts";
import { readF32 } from "../../files/tensor.ts";
import {
  normWeight,
  type DeltaNet,
  type Gate,
  type Linear,
  type Matrix,
  type NormWeights,
  type Operation,
  type ShortConv,
  type Weight,
} from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { gateLayout, layoutsOf, partOf, type LayoutPart } from "../../models/weight-layouts.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import { gateBias, gateColumns, gateMatrix } from "../gate-weights.ts";
import type { MemoryMap } from "./memory-map.ts";
import { headStrideOf } from "./kernels/cache-write.ts";
import { packRows, packTensor } from "./pack/pack-tensor.ts";
import { panelShape, strideOf, type PanelMatrix } from "./pack/panel-matrix.ts";
import type { Rows } from "./program/operation.ts";

/** Neighbouring outputs of a matrix, in memory. */
export interface MatrixPart extends LayoutPart {
  readonly panels: PanelMatrix;
}

/** A product's weights and bias in memory. */
export interface ProductWeights {
  readonly parts: readonly MatrixPart[];
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
  readonly #dtype: WeightsDtype | "stored";
  readonly #model: Model;
  readonly #matrices = new Map<Matrix, readonly MatrixPart[]>();
  readonly #gates = new Map<Linear, ProductWeights & { readonly operation: Gate }>();
  readonly #rows = new Map<Weight, Rows>();
  readonly #convolutions = new Map<Weight, Rows>();
  readonly #norms = new Map<NormWeights, NormAddresses>();
  /** Norms over heads that lie apart, with gaps after each head. */
  readonly #withGaps = new Set<NormWeights>();
  /** Bytes of all weights, with their padding. */
  readonly bytes: number;

  constructor(map: MemoryMap, model: Model, dtype: WeightsDtype | "stored") {
    this.#map = map;
    this.#model = model;
    this.#dtype = dtype;
    const bytesBefore = map.bytes;
    for (const operation of model.graph.operations) this.#take(operation);
    this.bytes = map.bytes - bytesBefore;
  }

  /** Returns how matrices are kept. */
  get layouts(): readonly WeightLayout[] {
    return this.#panels.map(({ layout }) => layout);
  }

  /** Returns the width of the widest row that a matrix with integers is multiplied with; 0 if there is none. */
  get widestPacked(): number {
    return Math.max(0, ...this.#panels.map(({ layout, kStride }) => (typeof layout === "string" ? 0 : kStride)));
  }

  get #panels(): readonly PanelMatrix[] {
    const gates = [...this.#gates.values()].flatMap(({ parts }) => parts);
    return [...[...this.#matrices.values()].flat(), ...gates].map(({ panels }) => panels);
  }

  matrix(matrix: Matrix): readonly MatrixPart[] {
    return there(this.#matrices.get(matrix));
  }

  /** Returns learned positions, or a vector. */
  rows(weight: Weight): Rows {
    return there(this.#rows.get(weight));
  }

  linear({ matrix, bias }: Linear): ProductWeights {
    return { parts: this.matrix(matrix), bias: bias ? there(this.#rows.get(bias)).address : 0 };
  }

  /** Returns both products of a gate as one. */
  gate({ gate }: Gate): ProductWeights {
    const { parts, bias } = there(this.#gates.get(gate));
    return { parts, bias };
  }

  /** Returns a convolution's weights [taps, width]. */
  convolution({ kernel }: ShortConv | DeltaNet): Rows {
    return there(this.#convolutions.get(kernel));
  }

  norm(norm: NormWeights): NormAddresses {
    return there(this.#norms.get(norm));
  }

  /** Reads every weight from its file into memory. */
  async load(weights: ModelWeights, memory: ArrayBufferLike): Promise<void> {
    for (const [matrix, parts] of this.#matrices) {
      const tensor = weights.tensor(matrix);
      const isTransposed = matrix.layout === "out-in";
      for (const part of parts) {
        await packTensor(memory, part.panels, isTransposed ? partOf(tensor, part) : tensor, isTransposed);
      }
    }
    for (const [weight, { address, stride }] of this.#rows) {
      await packRows(memory, address, weights.tensor(weight), stride / 4);
    }
    const floats = new Float32Array(memory);
    for (const [weight, { address, stride }] of this.#convolutions) {
      const values = await readF32(weights.tensor(weight));
      const taps = weight.tensors[0]?.shape.at(-1) ?? 1;
      values.forEach((value, i) => (floats[(address + (i % taps) * stride) / 4 + Math.floor(i / taps)] = value));
    }
    for (const { parts, bias, operation } of this.#gates.values()) {
      for (const { panels } of parts) await packTensor(memory, panels, gateMatrix(weights, operation), true);
      if (bias !== 0) floats.set(await gateBias(weights, operation), bias / 4);
    }
    for (const [norm, { gamma, beta }] of this.#norms) {
      const { weight, bias } = norm;
      const values = await readF32(weights.tensor(weight));
      const { headDim } = this.#model.shape;
      const gap = this.#withGaps.has(norm) ? headStrideOf(headDim) - headDim : 0;
      values.forEach((value, i) => (floats[gamma / 4 + i + gap * Math.floor(i / headDim)] = normWeight(norm, value)));
      if (bias) floats.set(await readF32(weights.tensor(bias)), beta / 4);
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
        for (const norm of operation.norms ? [operation.norms.queries, operation.norms.keys] : []) {
          if (operation.norms?.over === "width") this.#withGaps.add(norm);
          this.#takeNorm(norm);
        }
        return;
      case "head":
        return this.#takeMatrix(operation.table);
      case "shortConv":
        return this.#takeConvolution(operation);
      case "deltaNet":
        this.#takeConvolution(operation);
        this.#takeRows(operation.rate.weight);
        this.#takeRows(operation.dtBias);
        return this.#takeNorm(operation.norm);
      case "attention":
      case "outputGate":
        return;
    }
  }

  #takeConvolution({ kernel }: ShortConv | DeltaNet): void {
    const [width = 0, , taps = 0] = kernel.tensors[0]?.shape ?? [];
    const stride = 4 * strideOf(width);
    this.#convolutions.set(kernel, { address: this.#map.take(taps * stride), stride });
  }

  #takeLinear({ matrix, bias }: Linear): void {
    this.#takeMatrix(matrix);
    if (bias) this.#takeRows(bias);
  }

  #takeGate(operation: Gate): void {
    const { gate, up } = operation;
    if (this.#gates.has(gate)) return;
    const outputs = gateColumns(operation);
    const layout = gateLayout(this.#model, operation, this.#dtype);
    const panels = this.#takePanels(gate.matrix.inputs, outputs, layout);
    const bias = gate.bias || up.bias ? this.#map.take(4 * panels.nStride) : 0;
    this.#gates.set(gate, { parts: [{ firstOutput: 0, outputs, layout, panels }], bias, operation });
  }

  #takeMatrix(matrix: Matrix): void {
    if (this.#matrices.has(matrix)) return;
    const parts = layoutsOf(this.#model, matrix, this.#dtype).map((part) => ({
      ...part,
      panels: this.#takePanels(matrix.inputs, part.outputs, part.layout),
    }));
    this.#matrices.set(matrix, parts);
  }

  #takePanels(k: number, n: number, layout: WeightLayout): PanelMatrix {
    const shape = panelShape(k, n, layout);
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
    const width = norm.weight.tensors[0]?.shape[0] ?? 0;
    const { headDim } = this.#model.shape;
    const inMemory = this.#withGaps.has(norm) ? (width / headDim) * headStrideOf(headDim) : width;
    const bytes = 4 * strideOf(inMemory);
    // A LayerNorm's kernel always adds a beta.
    const hasBeta = norm.bias !== undefined || norm.kind === "layer";
    this.#norms.set(norm, { gamma: this.#map.take(bytes), beta: hasBeta ? this.#map.take(bytes) : 0 });
  }
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a weight of another graph");
  return value;
}
