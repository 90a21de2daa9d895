import type { DeltaNet, Linear, Matrix, NormWeights, Weight } from "../../models/graph.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import {
  convRowsPerBlock,
  convStride,
  kvBytesPerToken,
  numKvLayers,
  numStateSlots,
  stateBytesPerLayer,
} from "../../protocol/model-shape.ts";
import { planWeights, weightOf } from "../planned-weights.ts";
import type { Arena } from "./arena.ts";
import { padRows, strideOf } from "./padding.ts";
import type { MatrixPart, WeightUploader } from "./weight-uploader.ts";

/** A matrix of a product, or a part of it: its columns from `firstOutput` on. */
export interface ProductBuffers extends MatrixPart {
  readonly bias: GPUBuffer;
}

/** Keys and values of one layer: see shaders/README.md for the layout. */
interface LayerCache {
  readonly keys: GPUBuffer;
  readonly values: GPUBuffer;
}

type CacheConfig = Pick<ResolvedEngineConfig, "dtype" | "numGpuBlocks" | "blockSize" | "kvCacheDtype" | "speculation">;

/** Kernels read negative rates. */
const rateOf = (stored: number, form: DeltaNet["rate"]["form"]) => (form === "log" ? -Math.exp(stored) : stored);

/** A model on the GPU: its weights, which an uploader fills, and its cache. */
export class ModelBuffers {
  /** Bytes of the weights on the GPU, with their padding. */
  readonly weightBytes: number;
  readonly caches: readonly LayerCache[];
  /** The rows that each convolution keeps: see shaders/keep-conv-rows.wgsl. */
  readonly keptRows: readonly GPUBuffer[];
  /** The states of each delta net. */
  readonly states: readonly GPUBuffer[];
  readonly #products: ReadonlyMap<Linear | Matrix, readonly ProductBuffers[]>;
  readonly #rows: ReadonlyMap<Weight | NormWeights, GPUBuffer>;

  constructor(uploader: WeightUploader, arena: Arena, weights: ModelWeights, engine: CacheConfig) {
    const bytesBefore = arena.bytes;
    const { matrices, rows } = planWeights(weights.model, engine.dtype, rateOf);
    const withBias = (part: MatrixPart, label: string, read: (() => Promise<Float32Array>) | null) => {
      const [name, length] = [`${label} bias`, 4 * part.N4];
      if (!read) return { ...part, bias: arena.storage(name, 4 * length) };
      const { firstOutput } = part;
      const readPart = async () => padRows((await read()).subarray(firstOutput, firstOutput + length), 1, length);
      return { ...part, bias: uploader.values(name, length, readPart) };
    };
    const products = Array.from(matrices, ([key, { label, parts, isTransposed, tensor, readBias }]) => {
      const uploaded = uploader.parts(label, tensor(weights), parts, isTransposed);
      const read = readBias && (() => readBias(weights));
      return [key, uploaded.map((part) => withBias(part, label, read))] as const;
    });
    const values = Array.from(rows, ([key, { label, rows: count, columns, read }]) => {
      const readPadded = async () => padRows(await read(weights), count, columns);
      return [key, uploader.values(label, count * strideOf(columns), readPadded)] as const;
    });
    this.#products = new Map(products);
    this.#rows = new Map(values);
    this.weightBytes = arena.bytes - bytesBefore;

    const { shape } = weights.model;
    const layers = (count: number, what: string, bytes: number) =>
      Array.from({ length: count }, (_, i) => arena.storage(`${what} ${i}`, bytes));
    const keptBytes = 4 * engine.numGpuBlocks * convRowsPerBlock(shape, engine) * convStride(shape);
    this.keptRows = layers(shape.convs?.numLayers ?? 0, "rows of convolution", keptBytes);
    const stateBytes = numStateSlots(shape, engine) * stateBytesPerLayer(shape);
    this.states = layers(shape.states?.numLayers ?? 0, "states of delta net", stateBytes);
    const kvBytes = engine.numGpuBlocks * engine.blockSize * kvBytesPerToken(shape, engine.kvCacheDtype);
    this.caches = Array.from({ length: numKvLayers(shape) }, (_, i) => ({
      keys: arena.storage(`layer ${i} keys`, kvBytes),
      values: arena.storage(`layer ${i} values`, kvBytes),
    }));
  }

  /** Returns the matrix of a linear, of a gate's first linear or of a table, in parts, each with a layout of its own. */
  product(key: Linear | Matrix): readonly ProductBuffers[] {
    return weightOf(this.#products, key);
  }

  /** Returns rows of f32, each padded to its stride: see PlannedWeights. */
  rows(key: Weight | NormWeights): GPUBuffer {
    return weightOf(this.#rows, key);
  }
}

export function ofLayer<T>(all: readonly T[], layer: number): T {
  const one = all[layer];
  if (one === undefined) throw new RangeError(`the model has no layer ${layer}`);
  return one;
}
