import { readF32 } from "../../files/tensor.ts";
import {
  convWidthOf,
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
import { gateLayout, layoutsOf } from "../../models/weight-layouts.ts";
import type { ResolvedEngineConfig, WeightsDtype } from "../../protocol/config.ts";
import {
  convRowsPerBlock,
  convStride,
  kvBytesPerToken,
  numKvLayers,
  numStateSlots,
  stateBytesPerLayer,
  type ModelShape,
} from "../../protocol/model-shape.ts";
import { gateBias, gateColumns, gateMatrix } from "../gate-weights.ts";
import type { Arena } from "./arena.ts";
import { padRows, padTransposed, strideOf } from "./padding.ts";
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

type CacheConfig = Pick<ResolvedEngineConfig, "numGpuBlocks" | "blockSize" | "kvCacheDtype" | "speculation">;

/** A model on the GPU: its weights, and its cache. */
export class ModelBuffers {
  /** Bytes of the weights on the GPU, with their padding. */
  readonly weightBytes: number;
  /** A cache for each layer. */
  readonly caches: readonly LayerCache[];
  readonly #keptRows: readonly GPUBuffer[];
  readonly #states: readonly GPUBuffer[];
  readonly #convolutions: ReadonlyMap<Weight, GPUBuffer>;
  readonly #rates: ReadonlyMap<Weight, GPUBuffer>;
  readonly #linears: ReadonlyMap<Linear, readonly ProductBuffers[]>;
  readonly #gates: ReadonlyMap<Linear, readonly ProductBuffers[]>;
  readonly #tables: ReadonlyMap<Weight, readonly ProductBuffers[]>;
  readonly #norms: ReadonlyMap<NormWeights, GPUBuffer>;
  readonly #positions: ReadonlyMap<Weight, GPUBuffer>;

  private constructor(uploads: Uploads, weightBytes: number, arena: Arena, { shape }: Model, cache: CacheConfig) {
    this.#convolutions = uploads.convolutions;
    this.#rates = uploads.rates;
    this.#keptRows = createKeptRows(arena, shape, cache);
    this.#states = createStates(arena, shape, cache);
    this.#linears = uploads.linears;
    this.#gates = uploads.gates;
    this.#tables = uploads.tables;
    this.#norms = uploads.norms;
    this.#positions = uploads.positions;
    this.weightBytes = weightBytes;
    this.caches = createCaches(arena, shape, cache);
  }

  /** Creates the cache and the buffers of the weights, which the uploader fills. */
  static create(
    uploader: WeightUploader,
    arena: Arena,
    weights: ModelWeights,
    { dtype, ...cache }: CacheConfig & Pick<ResolvedEngineConfig, "dtype">,
  ): ModelBuffers {
    const bytesBefore = arena.bytes;
    const uploads = new Uploads(uploader, arena, weights, dtype);
    for (const operation of weights.model.graph.operations) uploads.add(operation);
    const weightBytes = arena.bytes - bytesBefore;
    return new ModelBuffers(uploads, weightBytes, arena, weights.model, cache);
  }

  /** Returns a product's matrix in parts, each with a layout of its own. */
  linear(linear: Linear): readonly ProductBuffers[] {
    return there(this.#linears.get(linear));
  }

  /** Returns both products of a gate as one, in parts. */
  gate({ gate }: Gate): readonly ProductBuffers[] {
    return there(this.#gates.get(gate));
  }

  /** Returns an embedding or a head, in parts. */
  table(weight: Weight): readonly ProductBuffers[] {
    return there(this.#tables.get(weight));
  }

  /** Returns a convolution's weights [taps, width], rows padded. */
  convolution({ kernel }: ShortConv): GPUBuffer {
    return there(this.#convolutions.get(kernel));
  }

  /** Returns the rows that a convolution keeps: see shaders/keep-conv-rows.wgsl. */
  keptRows(layer: number): GPUBuffer {
    return there(this.#keptRows[layer]);
  }

  /** Returns a delta net's convolution [taps, width], rows padded; its negative rates, then its biases; and its states. */
  deltaNet({ layer, kernel, rate }: DeltaNet): Readonly<Record<"weights" | "rates" | "states", GPUBuffer>> {
    const [weights, rates] = [this.#convolutions.get(kernel), this.#rates.get(rate.weight)];
    return { weights: there(weights), rates: there(rates), states: there(this.#states[layer]) };
  }

  /** Returns gamma, then beta. */
  norm(norm: NormWeights): GPUBuffer {
    return there(this.#norms.get(norm));
  }

  /** Returns the learned positions. */
  positions(weight: Weight): GPUBuffer {
    return there(this.#positions.get(weight));
  }
}

/** Gives each weight a buffer, once, however many operations read it. */
class Uploads {
  readonly linears = new Map<Linear, readonly ProductBuffers[]>();
  readonly gates = new Map<Linear, readonly ProductBuffers[]>();
  readonly tables = new Map<Weight, readonly ProductBuffers[]>();
  readonly norms = new Map<NormWeights, GPUBuffer>();
  readonly positions = new Map<Weight, GPUBuffer>();
  readonly convolutions = new Map<Weight, GPUBuffer>();
  readonly rates = new Map<Weight, GPUBuffer>();
  readonly #uploader: WeightUploader;
  readonly #arena: Arena;
  readonly #weights: ModelWeights;
  readonly #dtype: WeightsDtype;

  constructor(uploader: WeightUploader, arena: Arena, weights: ModelWeights, dtype: WeightsDtype) {
    this.#uploader = uploader;
    this.#arena = arena;
    this.#weights = weights;
    this.#dtype = dtype;
  }

  add(operation: Operation): void {
    switch (operation.type) {
      case "embed":
        this.#addTable(operation.table);
        if (operation.positions) this.#addPositions(operation.positions);
        return;
      case "norm":
        return this.#addNorm(operation.label, operation.norm);
      case "linear":
        return this.#addLinear(operation.label, operation.linear);
      case "gate":
        return this.#addGate(operation);
      case "head":
        return this.#addTable(operation.table);
      case "rotary":
        if (!operation.norms) return;
        this.#addNorm(`${operation.label} queries`, operation.norms.queries);
        return this.#addNorm(`${operation.label} keys`, operation.norms.keys);
      case "shortConv":
        return this.#addConvolution(operation.label, operation.kernel, operation.width, operation.taps);
      case "deltaNet":
        this.#addRates(operation);
        this.#addNorm(`${operation.label} norm`, operation.norm);
        return this.#addConvolution(operation.label, operation.kernel, convWidthOf(operation), operation.taps);
      case "attention":
      case "outputGate":
        return;
    }
  }

  #addLinear(label: string, linear: Linear): void {
    if (this.linears.has(linear)) return;
    const { bias } = linear;
    const readBias = bias && (() => readF32(this.#weights.tensor(bias)));
    this.linears.set(linear, this.#withBias(label, this.#partsOf(label, linear.matrix), readBias));
  }

  #addGate(operation: Gate): void {
    if (this.gates.has(operation.gate)) return;
    const { label } = operation;
    const layout = gateLayout(this.#weights.model, operation, this.#dtype);
    const whole = { firstOutput: 0, outputs: gateColumns(operation), layout };
    const parts = this.#uploader.parts(label, gateMatrix(this.#weights, operation), [whole]);
    const readBias = () => gateBias(this.#weights, operation);
    this.gates.set(operation.gate, this.#withBias(label, parts, readBias));
  }

  #addTable(table: Matrix): void {
    if (this.tables.has(table)) return;
    const label = nameOf(table);
    this.tables.set(table, this.#withBias(label, this.#partsOf(label, table)));
  }

  #partsOf(label: string, matrix: Matrix): readonly MatrixPart[] {
    const tensor = this.#weights.tensor(matrix);
    const layouts = layoutsOf(this.#weights.model, matrix, this.#dtype);
    if (matrix.layout === "out-in") return this.#uploader.parts(label, tensor, layouts);
    return layouts.map(({ firstOutput, layout }) => ({ ...this.#uploader.matrix(label, tensor, layout), firstOutput }));
  }

  #withBias(
    label: string,
    parts: readonly MatrixPart[],
    readBias?: () => Promise<Float32Array<ArrayBuffer>>,
  ): readonly ProductBuffers[] {
    return parts.map((part) => {
      const { firstOutput, N4 } = part;
      const readPart =
        readBias && (async () => padRows((await readBias()).subarray(firstOutput, firstOutput + 4 * N4), 1, 4 * N4));
      const name = `${label} bias`;
      const bias = readPart ? this.#uploader.values(name, 4 * N4, readPart) : this.#arena.storage(name, 16 * N4);
      return { ...part, bias };
    });
  }

  #addNorm(label: string, norm: NormWeights): void {
    const { weight, bias } = norm;
    const gamma = this.#weights.tensor(weight);
    const beta = bias ? this.#weights.tensor(bias) : null;
    this.norms.set(norm, this.#uploader.norm(label, norm, gamma, beta));
  }

  #addConvolution(label: string, kernel: Weight, width: number, taps: number): void {
    const tensor = this.#weights.tensor(kernel);
    const length = taps * strideOf(width);
    const read = async () => padTransposed(await readF32(tensor), width, taps).subarray(0, length);
    this.convolutions.set(kernel, this.#uploader.values(label, length, read));
  }

  #addRates({ label, rate, dtBias, valueHeads }: DeltaNet): void {
    const [rates, biases] = [this.#weights.tensor(rate.weight), this.#weights.tensor(dtBias)];
    const read = async () => {
      const values = new Float32Array(2 * valueHeads);
      values.set((await readF32(rates)).map((value) => (rate.form === "log" ? -Math.exp(value) : value)));
      values.set(await readF32(biases), valueHeads);
      return values;
    };
    this.rates.set(rate.weight, this.#uploader.values(`${label} rates`, 2 * valueHeads, read));
  }

  #addPositions(positions: Weight): void {
    this.positions.set(positions, this.#uploader.rows(nameOf(positions), this.#weights.tensor(positions)));
  }
}

function createCaches(arena: Arena, shape: ModelShape, cache: CacheConfig): LayerCache[] {
  const bytes = cache.numGpuBlocks * cache.blockSize * kvBytesPerToken(shape, cache.kvCacheDtype);
  return Array.from({ length: numKvLayers(shape) }, (_, i) => ({
    keys: arena.storage(`layer ${i} keys`, bytes),
    values: arena.storage(`layer ${i} values`, bytes),
  }));
}

function createKeptRows(arena: Arena, shape: ModelShape, cache: CacheConfig): GPUBuffer[] {
  const bytes = 4 * cache.numGpuBlocks * convRowsPerBlock(shape, cache) * convStride(shape);
  return Array.from({ length: shape.convs?.numLayers ?? 0 }, (_, i) => arena.storage(`convolution ${i} rows`, bytes));
}

function createStates(arena: Arena, shape: ModelShape, cache: CacheConfig): GPUBuffer[] {
  const bytes = numStateSlots(shape, cache) * stateBytesPerLayer(shape);
  return Array.from({ length: shape.states?.numLayers ?? 0 }, (_, i) => arena.storage(`delta net ${i} states`, bytes));
}

function nameOf({ tensors }: Weight): string {
  return tensors[0]?.name ?? "weight";
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a weight of another graph");
  return value;
}
