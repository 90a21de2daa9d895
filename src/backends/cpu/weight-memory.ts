import type { WeightLayout } from "../../files/packing.ts";
import type { Linear, Matrix, NormWeights, Weight } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { partOf, type LayoutPart } from "../../models/weight-layouts.ts";
import type { WeightsDtype } from "../../protocol/config.ts";
import { planWeights, weightOf, type PlannedWeights } from "../planned-weights.ts";
import type { MemoryMap } from "./memory-map.ts";
import { headStrideOf } from "./kernels/cache-write.ts";
import { packTensor } from "./pack/pack-tensor.ts";
import { panelShape, strideOf, type PanelMatrix } from "./pack/panel-matrix.ts";
import type { Rows } from "./program/operation.ts";

/** Neighbouring outputs of a matrix, in memory. */
interface MatrixPart extends LayoutPart {
  readonly panels: PanelMatrix;
}

/** A product's weights and bias in memory. */
export interface ProductWeights {
  readonly parts: readonly MatrixPart[];
  /** Address of the bias; 0: there is none. */
  readonly bias: number;
}

/** Places a graph's weights in memory, each once, however many operations read it. */
export class WeightMemory {
  readonly #planned: PlannedWeights;
  readonly #products: ReadonlyMap<Linear | Matrix, ProductWeights>;
  readonly #rows: ReadonlyMap<Weight | NormWeights, Rows & { readonly columns: number }>;
  /** Bytes of all weights, with their padding. */
  readonly bytes: number;

  constructor(map: MemoryMap, model: Model, dtype: WeightsDtype | "stored") {
    const bytesBefore = map.bytes;
    this.#planned = planWeights(model, dtype);
    const products = Array.from(this.#planned.matrices, ([key, { inputs, parts, readBias }]) => {
      const panels = parts.map((part) => ({ ...part, panels: takePanels(map, inputs, part) }));
      const outputs = parts.reduce((sum, part) => sum + part.outputs, 0);
      return [key, { parts: panels, bias: readBias ? map.take(4 * strideOf(outputs)) : 0 }] as const;
    });
    const { headDim } = model.shape;
    const rows = Array.from(this.#planned.rows, ([key, one]) => {
      // Heads lie apart, with gaps where they are no whole vectors: so does what all of them together are multiplied by.
      const [columns, width] = one.areHeads ? [headDim, headStrideOf(headDim)] : [one.columns, strideOf(one.columns)];
      const count = (one.rows * one.columns) / columns;
      return [key, { address: map.take(4 * count * width), stride: 4 * width, columns }] as const;
    });
    this.#products = new Map(products);
    this.#rows = new Map(rows);
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
    return [...this.#products.values()].flatMap(({ parts }) => parts.map(({ panels }) => panels));
  }

  /** Returns the weights of a linear, of a gate's first linear (both products as one), or of a table. */
  product(key: Linear | Matrix): ProductWeights {
    return weightOf(this.#products, key);
  }

  /** Returns rows of f32: see PlannedWeights. */
  rows(key: Weight | NormWeights): Rows {
    return weightOf(this.#rows, key);
  }

  /** Reads every weight from its file into memory. */
  async load(weights: ModelWeights, memory: ArrayBufferLike): Promise<void> {
    const floats = new Float32Array(memory);
    for (const [key, planned] of this.#planned.matrices) {
      const { parts, bias } = this.product(key);
      const tensor = planned.tensor(weights);
      for (const part of parts) {
        const own = planned.isTransposed ? partOf(tensor, part) : tensor;
        await packTensor(memory, part.panels, own, planned.isTransposed);
      }
      if (planned.readBias) floats.set(await planned.readBias(weights), bias / 4);
    }
    for (const [key, { read }] of this.#planned.rows) {
      const { address, stride, columns } = weightOf(this.#rows, key);
      const values = await read(weights);
      for (let at = 0, to = address; at < values.length; at += columns, to += stride) {
        floats.set(values.subarray(at, at + columns), to / 4);
      }
    }
  }
}

function takePanels(map: MemoryMap, inputs: number, { outputs, layout }: LayoutPart): PanelMatrix {
  const shape = panelShape(inputs, outputs, layout);
  return { ...shape, address: map.take(shape.bytes) };
}
