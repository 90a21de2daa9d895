import type { Gate, Linear, NormWeights, Operation, Weight } from "../../models/graph.ts";
import type { Model } from "../../models/model.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { kvBytesPerToken } from "../../protocol/model-shape.ts";
import { gateBias, gateMatrix } from "../gate-weights.ts";
import type { Arena } from "./arena.ts";
import type { PackedMatrix, TablePart, WeightUploader } from "./weight-uploader.ts";

export interface LinearBuffers extends PackedMatrix {
  readonly bias: GPUBuffer;
}

/** A part of an embedding, a head or a gate: its columns from `firstRow` of the matrix [columns, inputs] on. */
export interface TableBuffers extends LinearBuffers, TablePart {}

/** Keys and values of one layer: see shaders/README.md for the layout. */
interface LayerCache {
  readonly keys: GPUBuffer;
  readonly values: GPUBuffer;
}

/** A model on the GPU: its weights, and its cache. */
export class ModelBuffers {
  /** Bytes of the weights on the GPU, with their padding. */
  readonly weightBytes: number;
  /** A cache for each layer. */
  readonly caches: readonly LayerCache[];
  readonly #linears: ReadonlyMap<Linear, LinearBuffers>;
  readonly #gates: ReadonlyMap<Linear, readonly TableBuffers[]>;
  readonly #tables: ReadonlyMap<Weight, readonly TableBuffers[]>;
  readonly #norms: ReadonlyMap<NormWeights, GPUBuffer>;
  readonly #positions: ReadonlyMap<Weight, GPUBuffer>;

  private constructor(uploads: Uploads, weightBytes: number, caches: readonly LayerCache[]) {
    this.#linears = uploads.linears;
    this.#gates = uploads.gates;
    this.#tables = uploads.tables;
    this.#norms = uploads.norms;
    this.#positions = uploads.positions;
    this.weightBytes = weightBytes;
    this.caches = caches;
  }

  /** Creates the cache and the buffers of the weights, which the uploader fills. */
  static create(
    uploader: WeightUploader,
    arena: Arena,
    weights: ModelWeights,
    cache: Pick<ResolvedEngineConfig, "numGpuBlocks" | "blockSize" | "kvCacheDtype">,
  ): ModelBuffers {
    const bytesBefore = arena.bytes;
    const uploads = new Uploads(uploader, arena, weights);
    for (const operation of weights.model.graph.operations) uploads.add(operation);
    const weightBytes = arena.bytes - bytesBefore;
    return new ModelBuffers(uploads, weightBytes, createCaches(arena, weights.model, cache));
  }

  linear(linear: Linear): LinearBuffers {
    return there(this.#linears.get(linear));
  }

  /** Returns both products of a gate as one, in parts if it is too large to be bound at once. */
  gate({ gate }: Gate): readonly TableBuffers[] {
    return there(this.#gates.get(gate));
  }

  /** Returns an embedding or a head, in parts if it is too large to be bound at once. */
  table(weight: Weight): readonly TableBuffers[] {
    return there(this.#tables.get(weight));
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
  readonly linears = new Map<Linear, LinearBuffers>();
  readonly gates = new Map<Linear, readonly TableBuffers[]>();
  readonly tables = new Map<Weight, readonly TableBuffers[]>();
  readonly norms = new Map<NormWeights, GPUBuffer>();
  readonly positions = new Map<Weight, GPUBuffer>();
  readonly #uploader: WeightUploader;
  readonly #arena: Arena;
  readonly #weights: ModelWeights;

  constructor(uploader: WeightUploader, arena: Arena, weights: ModelWeights) {
    this.#uploader = uploader;
    this.#arena = arena;
    this.#weights = weights;
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
      case "attention":
        return;
    }
  }

  #addLinear(label: string, linear: Linear): void {
    if (this.linears.has(linear)) return;
    const { matrix, bias } = linear;
    const tensor = this.#weights.tensor(matrix);
    const packed = this.#uploader.matrix(label, tensor, { transposed: matrix.layout === "out-in" });
    const biases = bias
      ? this.#uploader.rows(`${label} bias`, this.#weights.tensor(bias))
      : this.#arena.storage(`${label} bias`, 16 * packed.N4);
    this.linears.set(linear, { ...packed, bias: biases });
  }

  #addGate(operation: Gate): void {
    if (this.gates.has(operation.gate)) return;
    const { label } = operation;
    const parts = this.#uploader.table(label, gateMatrix(this.#weights, operation));
    const biasOf = ({ firstRow, N4 }: TablePart) =>
      this.#uploader.values(`${label} bias`, 4 * N4, async () => {
        const padded = new Float32Array(4 * N4);
        padded.set((await gateBias(this.#weights, operation)).subarray(firstRow, firstRow + 4 * N4));
        return padded;
      });
    this.gates.set(
      operation.gate,
      parts.map((part) => ({ ...part, bias: biasOf(part) })),
    );
  }

  #addTable(table: Weight): void {
    if (this.tables.has(table)) return;
    const label = nameOf(table);
    const parts = this.#uploader.table(label, this.#weights.tensor(table));
    const withBias = (part: TablePart) => ({ ...part, bias: this.#arena.storage(`${label} bias`, 16 * part.N4) });
    this.tables.set(table, parts.map(withBias));
  }

  #addNorm(label: string, norm: NormWeights): void {
    const { weight, bias, weightOffset = 0 } = norm;
    const gamma = this.#weights.tensor(weight);
    const beta = bias ? this.#weights.tensor(bias) : null;
    this.norms.set(norm, this.#uploader.norm(label, gamma, beta, weightOffset));
  }

  #addPositions(positions: Weight): void {
    this.positions.set(positions, this.#uploader.rows(nameOf(positions), this.#weights.tensor(positions)));
  }
}

function createCaches(
  arena: Arena,
  { shape }: Model,
  cache: Pick<ResolvedEngineConfig, "numGpuBlocks" | "blockSize" | "kvCacheDtype">,
): LayerCache[] {
  const bytes = cache.numGpuBlocks * cache.blockSize * kvBytesPerToken(shape, cache.kvCacheDtype);
  return Array.from({ length: shape.numLayers }, (_, i) => ({
    keys: arena.storage(`layer ${i} keys`, bytes),
    values: arena.storage(`layer ${i} values`, bytes),
  }));
}

function nameOf({ tensors }: Weight): string {
  return tensors[0]?.name ?? "weight";
}

function there<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a weight of another graph");
  return value;
}
