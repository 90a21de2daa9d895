import type {
  Attention,
  DeltaNet,
  Graph,
  Operation,
  OutputGate,
  Rotary,
  ShortConv,
  Value,
} from "../../models/graph.ts";
import type { ModelShape } from "../../protocol/model-shape.ts";
import { gateEpilogue, linearEpilogue, type EpilogueName } from "../epilogues.ts";
import { shareValues } from "../share-values.ts";
import { deltaOffsets } from "./kernels/delta-net.ts";
import type { MemoryMap } from "./memory-map.ts";
import { strideOf } from "./pack/panel-matrix.ts";
import type {
  KeptRows,
  LayerCache,
  Operation as Step,
  Program,
  RowArguments,
  RowKernel,
  Rows,
  StatePlace,
} from "./program/operation.ts";
import type { ProductWeights, WeightMemory } from "./weight-memory.ts";

interface CompileContext {
  readonly map: MemoryMap;
  readonly weights: WeightMemory;
  readonly shape: ModelShape;
  readonly caches: readonly LayerCache[];
  /** The rows that each convolution keeps. */
  readonly kept: readonly KeptRows[];
  /** Those of each delta net. */
  readonly states: readonly StatePlace[];
  /** Values from one head to the next in the cache: a multiple of 4. */
  readonly headStride: number;
  readonly maxRows: number;
  readonly maxSamples: number;
  /** Returns the table of a rotation's angles, for queries or for keys. */
  anglesOf(rotary: Rotary, of: "queries" | "keys"): Rows;
}

export interface CompiledGraph {
  readonly program: Program;
  readonly logits: Rows;
}

/** How threads share the operations of a phase. */
type Sharing = "rows" | "samples" | "convolution" | "states" | "columns" | "heads" | "drawing" | "recording";

/** Compiles a model's graph to the program that threads walk, and the memory that it needs. */
export function compileGraph(graph: Graph, context: CompileContext): CompiledGraph {
  const compiler = new GraphCompiler(graph, context);
  for (const operation of graph.operations) compiler.add(operation);
  return compiler.finish();
}

class GraphCompiler {
  readonly #graph: Graph;
  readonly #context: CompileContext;
  readonly #values: readonly (Rows | null)[];
  readonly #program: Step[][] = [];
  #sharing: Sharing | null = null;
  /** [queries | keys | values] with padded heads, and the value `of` that they were copied from last. */
  #padded: { readonly rows: Rows; readonly attended: Rows; of: Value | null } | null = null;
  /** What delta nets read, one after the other. */
  #deltaInputs: Rows | null = null;
  /** Outputs of norms before they are added. */
  readonly #addends = new Map<number, Rows>();
  readonly #logits: Rows;

  constructor(graph: Graph, context: CompileContext) {
    this.#graph = graph;
    this.#context = context;
    const { slots, slotOf } = shareValues(graph, { normsAreFused: false });
    const places = slots.map(({ width, height }) =>
      this.#take(width, height === "rows" ? context.maxRows : context.maxSamples),
    );
    this.#values = slotOf.map((slot) => (slot === null ? null : (places[slot] ?? null)));
    this.#logits = this.#take(context.shape.vocabSize, context.maxSamples);
  }

  finish(): CompiledGraph {
    const logits = this.#logits;
    this.#phase("drawing", { type: "sample", logits });
    this.#phase("recording", { type: "record" });
    return { program: this.#program, logits };
  }

  add(operation: Operation): void {
    const { weights } = this.#context;
    switch (operation.type) {
      case "embed": {
        const { scale, positions, output } = operation;
        const { parts } = weights.product(operation.table);
        const table = parts.map(({ firstOutput, panels }) => ({ firstToken: firstOutput, panels }));
        const y = this.#rows(output);
        this.#phase("rows", { type: "embed", table, scale, y });
        const bytes = 4 * strideOf(this.#shape(output).width);
        if (positions) this.#eachRow("rows", "add", y, { ...weights.rows(positions), by: "position" }, bytes);
        return;
      }
      case "norm":
        return this.#addNorm(operation);
      case "linear": {
        const { linear, input, output } = operation;
        const epilogue = linearEpilogue(operation);
        return this.#phase("columns", ...this.#products(weights.product(linear), input, this.#rows(output), epilogue));
      }
      case "gate": {
        const { activation, input, output } = operation;
        const products = this.#products(
          weights.product(operation.gate),
          input,
          this.#rows(output),
          gateEpilogue(activation),
        );
        return this.#phase("columns", ...products);
      }
      case "rotary":
        return this.#addRotary(operation);
      case "attention":
        return this.#addAttention(operation);
      case "shortConv":
        return this.#addConvolution(operation);
      case "deltaNet":
        return this.#addDeltaNet(operation);
      case "outputGate":
        return this.#addOutputGate(operation);
      case "head": {
        const { table, input, cap } = operation;
        const products = this.#products(weights.product(table), input, this.#logits, cap ? "head" : "biasOnly");
        return this.#phase("columns", ...products);
      }
    }
  }

  #addNorm({ norm, input, output, addsToOutput }: Extract<Operation, { type: "norm" }>): void {
    const { width, height } = this.#shape(output);
    const y = this.#rows(output);
    const target = addsToOutput ? this.#addend(width) : y;
    const bytes = 4 * strideOf(width);
    const { address: gamma, stride } = this.#context.weights.rows(norm);
    const { kind, epsilon } = norm;
    const x = height === "rows" ? this.#rows(input) : ({ ...this.#rows(input), by: "sampledRow" } as const);
    if (kind === "layer") this.#eachRow(height, "layer_norm", x, target, gamma, gamma + stride, bytes, width, epsilon);
    else this.#eachRow(height, "rms_norm", x, target, gamma, bytes, width, epsilon);
    if (addsToOutput) this.#eachRow("rows", "add", y, target, bytes);
  }

  /** Returns a product for each part of the weights: each makes its columns of y. */
  #products({ parts, bias }: ProductWeights, input: Value, y: Rows, epilogue: EpilogueName): Step[] {
    const { height: of } = this.#shape(input);
    return parts.map(({ firstOutput, panels: w }) => ({
      type: "linear",
      of,
      x: this.#rows(input),
      w,
      bias: bias === 0 ? 0 : bias + 4 * firstOutput,
      y: { ...y, address: y.address + 4 * firstOutput },
      epilogue,
    }));
  }

  #addRotary(rotary: Rotary): void {
    const { weights, shape, headStride } = this.#context;
    const { numHeads, numKvHeads, headDim } = shape;
    const [queries, keys] = this.#heads(rotary.value);
    for (const [of, x, heads] of [
      ["queries", queries, numHeads],
      ["keys", keys, numKvHeads],
    ] as const) {
      const { norms } = rotary;
      const normalise = () => {
        if (!norms) return;
        const gamma = weights.rows(norms[of]).address;
        // All heads together are one, and so is their weight, with the same gaps.
        const together = norms.over === "head" ? 1 : heads;
        for (let head = 0; head < heads; head += together) {
          const at = { ...x, address: x.address + 4 * head * headStride };
          const [bytes, width] = [4 * together * headStride, together * headDim];
          this.#eachRow("rows", "rms_norm", at, at, gamma, bytes, width, norms[of].epsilon);
        }
      };
      if (!norms?.afterRotation) normalise();
      this.#eachRow("rows", "rotate", x, heads, { ...this.#context.anglesOf(rotary, of), by: "position" });
      if (norms?.afterRotation) normalise();
    }
  }

  #addAttention({ layer, scale, window = null, input, output }: Attention): void {
    const { shape, headStride, caches } = this.#context;
    const { numHeads: heads, numKvHeads: keyHeads, headDim } = shape;
    const [q, k, v] = this.#heads(input);
    const cache = caches[layer];
    if (!cache) throw new RangeError(`the model has no layer ${layer}`);
    this.#phase("rows", { type: "cacheWrite", k, v, heads: keyHeads, cache });
    const y = this.#padded?.attended ?? this.#rows(output);
    this.#phase("heads", { type: "attend", q, y, heads, keyHeads, headSize: headStride, scale, window, cache });
    if (!this.#padded) return;
    this.#phase("rows", { type: "copyHeads", x: y, y: this.#rows(output), heads, from: headStride, to: headDim });
  }

  #addConvolution(operation: ShortConv): void {
    const { layer, width, taps, input, output } = operation;
    const kept = this.#context.kept[layer];
    if (!kept) throw new RangeError(`the model has no convolution ${layer}`);
    const x = this.#rows(input);
    // Later steps read them, so they stay to the end of the step.
    const products = this.#take(width, this.#context.maxRows);
    this.#eachRow("rows", "multiply", products, x, { ...x, address: x.address + 8 * width }, 4 * width);
    const weights = this.#context.weights.rows(operation.kernel);
    const y = this.#rows(output);
    this.#phase("convolution", { type: "shortConv", x, products, y, width, taps, weights, kept });
  }

  #addDeltaNet(operation: DeltaNet): void {
    const { layer, keyHeads, valueHeads, keyDim, valueDim, headOrder, taps, norm, rate } = operation;
    const { weights, states, maxRows } = this.#context;
    const place = states[layer];
    if (!place) throw new RangeError(`the model has no delta net ${layer}`);
    const rates = weights.rows(rate.weight);
    const net = {
      keyHeads,
      valueHeads,
      keyDim,
      valueDim,
      headOrder,
      taps,
      offsets: deltaOffsets(operation),
      kernel: weights.rows(operation.kernel),
      rate: rates.address,
      dtBias: rates.address + rates.stride,
      gamma: weights.rows(norm).address,
      epsilon: norm.epsilon,
      states: place,
    };
    const [x, y] = [this.#rows(operation.input), this.#rows(operation.output)];
    const inputs = (this.#deltaInputs ??= this.#take(net.offsets.end / 4, maxRows));
    this.#phase("rows", { type: "deltaInputs", x, inputs, net });
    this.#phase("states", { type: "deltaRule", x, inputs, y, net });
  }

  #addOutputGate({ gates, firstColumn, value }: OutputGate): void {
    const from = this.#rows(gates);
    const at = { ...from, address: from.address + 4 * firstColumn };
    this.#eachRow("rows", "multiply_sigmoid", this.#rows(value), at, 4 * this.#shape(value).width);
  }

  /** Returns the queries, keys and values of each row, in heads as the cache has them. */
  #heads(value: Value): readonly [queries: Rows, keys: Rows, values: Rows] {
    const { shape, headStride } = this.#context;
    const { numHeads, numKvHeads, headDim } = shape;
    const rows = headDim === headStride ? this.#rows(value) : this.#paddedHeads(value);
    const at = (head: number) => ({ ...rows, address: rows.address + 4 * head * headStride });
    return [rows, at(numHeads), at(numHeads + numKvHeads)];
  }

  #paddedHeads(value: Value): Rows {
    const { shape, headStride, maxRows } = this.#context;
    const { numHeads, numKvHeads, headDim } = shape;
    const heads = numHeads + 2 * numKvHeads;
    this.#padded ??= {
      rows: this.#take(heads * headStride, maxRows),
      attended: this.#take(numHeads * headStride, maxRows),
      of: null,
    };
    const { rows } = this.#padded;
    if (this.#padded.of === value) return rows;
    this.#padded.of = value;
    this.#phase("rows", { type: "copyHeads", x: this.#rows(value), y: rows, heads, from: headDim, to: headStride });
    return rows;
  }

  #addend(width: number): Rows {
    const rows = this.#addends.get(width) ?? this.#take(width, this.#context.maxRows);
    this.#addends.set(width, rows);
    return rows;
  }

  #eachRow<K extends RowKernel>(of: "rows" | "samples", kernel: K, ...args: RowArguments<K>): void {
    this.#phase(of, { type: "eachRow", of, kernel, args });
  }

  /** Adds steps, to the last phase if threads share both alike: then each thread needs only its own results. */
  #phase(sharing: Sharing, ...steps: readonly Step[]): void {
    const last = this.#program.at(-1);
    if (last !== undefined && sharing === this.#sharing && sharing === "rows") last.push(...steps);
    else this.#program.push([...steps]);
    this.#sharing = sharing;
  }

  #take(width: number, count: number): Rows {
    const stride = 4 * strideOf(width);
    return { address: this.#context.map.take(count * stride), stride };
  }

  #rows(value: Value): Rows {
    const rows = this.#values[value];
    if (!rows) throw new RangeError(`the graph has no value ${value}`);
    return rows;
  }

  #shape(value: Value): Graph["values"][number] {
    const shape = this.#graph.values[value];
    if (!shape) throw new RangeError(`the graph has no value ${value}`);
    return shape;
  }
}
