// A model's computation as plain data: a list of operations on weights and values, in the order of computation. Families
// write it, backends compile it. Nothing here knows what a GPU is.

/** A tensor of the checkpoint as an operation reads it. The same object is the same tensor, as with a tied head. */
export interface Weight {
  /** Names without the checkpoint's prefix, with their shapes. The rows of several follow one another. */
  readonly tensors: readonly { readonly name: string; readonly shape: readonly number[] }[];
}

/** A matrix of a product y = x W. */
export interface Matrix extends Weight {
  readonly inputs: number;
  readonly outputs: number;
  /** Conv1D keeps [in, out], nn.Linear [out, in]. */
  readonly layout: "in-out" | "out-in";
}

/** Rows [tokens, width] that operations make and read: an index into Graph.values. */
export type Value = number;

export interface ValueShape {
  readonly width: number;
  /** One row for each row of the step, or one for each row that samples. */
  readonly height: "rows" | "samples";
}

export type Activation = "gelu_tanh" | "gelu_erf" | "silu";

/** Normalises rows: (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean(x^2) + epsilon); times weight, plus bias. */
export interface NormWeights {
  readonly kind: "layer" | "rms";
  readonly weight: Weight;
  /** [0] */
  readonly bias?: Weight;
  readonly epsilon: number;
  /** Added to each element of the weight: 1 where the checkpoint keeps weight - 1. [0] */
  readonly weightOffset?: number;
}

export interface Linear {
  readonly matrix: Matrix;
  /** [0] */
  readonly bias?: Weight;
}

/** nn.Linear, whose matrix is [out, in]. */
export interface RowLinear extends Linear {
  readonly matrix: Matrix & { readonly layout: "out-in" };
}

interface Labelled {
  /** Name for messages, profiles and tests. */
  readonly label: string;
}

/** output = table[token] * scale, plus the position's row if positions are learned. */
export interface Embed extends Labelled {
  readonly type: "embed";
  /** [vocabSize, width] */
  readonly table: Matrix;
  /** [maxPositions, width] */
  readonly positions: Weight | null;
  readonly scale: number;
  readonly output: Value;
}

/** output = the normalised input, or output += it. */
export interface Norm extends Labelled {
  readonly type: "norm";
  readonly norm: NormWeights;
  readonly input: Value;
  /** If its height is "samples": the rows that sample, gathered. */
  readonly output: Value;
  /** [false] */
  readonly addsToOutput?: boolean;
}

/** output = activation(input W + bias), or output += input W + bias. */
export interface LinearOperation extends Labelled {
  readonly type: "linear";
  readonly linear: Linear;
  readonly input: Value;
  readonly output: Value;
  readonly activation: Activation | null;
  readonly addsToOutput: boolean;
}

/** output = activation(input Wgate) * (input Wup). */
export interface Gate extends Labelled {
  readonly type: "gate";
  readonly gate: RowLinear;
  readonly up: RowLinear;
  readonly activation: Activation;
  readonly input: Value;
  readonly output: Value;
}

/** Angles of rotary positions: dimension pair (i, i + headDim / 2) of position p turns by p * inverseFrequencies[i]. */
export interface RotaryAngles {
  readonly inverseFrequencies: readonly number[];
  /** Factor of cosine and sine. [1] */
  readonly scaling: number;
}

export interface RmsNormWeights extends NormWeights {
  readonly kind: "rms";
  readonly bias?: never;
}

/** Norms of queries and of keys: each head is normalised by itself, and all heads have one weight [headDim]. */
export interface HeadNorms {
  readonly queries: RmsNormWeights;
  readonly keys: RmsNormWeights;
}

/** Rotates the queries and keys of value = [queries | keys | values] by their positions, in place. */
export interface Rotary extends Labelled {
  readonly type: "rotary";
  readonly angles: RotaryAngles;
  /** Norms of the heads before they are rotated. [none] */
  readonly norms?: HeadNorms | null;
  readonly value: Value;
}

/** output = softmax(scale q k) v, causal, over the layer's cache; input = [queries | keys | values]. */
export interface Attention extends Labelled {
  readonly type: "attention";
  readonly layer: number;
  readonly scale: number;
  /** Positions that a row sees, its own and those right before it; null: all before it. [null] */
  readonly window?: number | null;
  readonly input: Value;
  readonly output: Value;
}

/** Logits of the rows that sample: input W. */
export interface Head extends Labelled {
  readonly type: "head";
  /** [vocabSize, width] */
  readonly table: Matrix;
  readonly input: Value;
}

export type Operation = Embed | Norm | LinearOperation | Gate | Rotary | Attention | Head;

export interface Graph {
  readonly operations: readonly Operation[];
  readonly values: readonly ValueShape[];
}

/** Builds a Graph. Each method adds one operation and returns its output value. */
export class GraphBuilder {
  readonly #operations: Operation[] = [];
  readonly #values: ValueShape[] = [];

  get graph(): Graph {
    return { operations: this.#operations, values: this.#values };
  }

  embed(table: Matrix, { positions = null, scale = 1 }: { positions?: Weight | null; scale?: number } = {}): Value {
    const output = this.#value(table.inputs);
    this.#operations.push({ type: "embed", label: "embed", table, positions, scale, output });
    return output;
  }

  norm(
    label: string,
    input: Value,
    norm: NormWeights,
    { height = "rows" }: { height?: ValueShape["height"] } = {},
  ): Value {
    const output = this.#value(this.#width(input), height);
    this.#operations.push({ type: "norm", label, norm, input, output });
    return output;
  }

  /** Adds the normalised input to an existing value: the residual stream. */
  addNorm(label: string, input: Value, norm: NormWeights, output: Value): void {
    this.#operations.push({ type: "norm", label, norm, input, output, addsToOutput: true });
  }

  linear(label: string, input: Value, linear: Linear, activation: Activation | null = null): Value {
    const output = this.#value(linear.matrix.outputs);
    this.#operations.push({ type: "linear", label, linear, input, output, activation, addsToOutput: false });
    return output;
  }

  /** Adds a product to an existing value: the residual stream. */
  addLinear(label: string, input: Value, linear: Linear, output: Value): void {
    this.#operations.push({ type: "linear", label, linear, input, output, activation: null, addsToOutput: true });
  }

  gate(label: string, input: Value, gate: RowLinear, up: RowLinear, activation: Activation): Value {
    const output = this.#value(gate.matrix.outputs);
    this.#operations.push({ type: "gate", label, gate, up, activation, input, output });
    return output;
  }

  rotary(label: string, value: Value, angles: RotaryAngles, norms: HeadNorms | null = null): void {
    this.#operations.push({ type: "rotary", label, angles, norms, value });
  }

  /** @param width width of the output: query heads times their size */
  attention(
    label: string,
    input: Value,
    { layer, scale, window = null, width }: { layer: number; scale: number; window?: number | null; width: number },
  ): Value {
    const output = this.#value(width);
    this.#operations.push({ type: "attention", label, layer, scale, window, input, output });
    return output;
  }

  head(table: Matrix, input: Value): void {
    this.#operations.push({ type: "head", label: "head", table, input });
  }

  #value(width: number, height: ValueShape["height"] = "rows"): Value {
    return this.#values.push({ width, height }) - 1;
  }

  #width(value: Value): number {
    const shape = this.#values[value];
    if (shape === undefined) throw new RangeError(`the graph has no value ${value}`);
    return shape.width;
  }
}

/** Returns every tensor that a graph reads, each once, in the order of computation. */
export function weightsOf({ operations }: Graph): readonly Weight[] {
  return [...new Set(operations.flatMap(weightsOfOperation))];
}

/** Returns the number of positions that a row sees in the layer with the largest window; null if a layer sees all. */
export function slidingWindowOf({ operations }: Graph): number | null {
  const windows = operations.flatMap((operation) => (operation.type === "attention" ? [operation.window ?? null] : []));
  return windows.reduce((most, window) => (most === null || window === null ? null : Math.max(most, window)), 0);
}

function weightsOfOperation(operation: Operation): readonly Weight[] {
  const linear = ({ matrix, bias }: Linear) => (bias ? [matrix, bias] : [matrix]);
  const norm = ({ weight, bias }: NormWeights) => (bias ? [weight, bias] : [weight]);
  switch (operation.type) {
    case "embed":
      return operation.positions ? [operation.table, operation.positions] : [operation.table];
    case "norm":
      return norm(operation.norm);
    case "linear":
      return linear(operation.linear);
    case "gate":
      return [...linear(operation.gate), ...linear(operation.up)];
    case "head":
      return [operation.table];
    case "rotary":
      return operation.norms ? [...norm(operation.norms.queries), ...norm(operation.norms.keys)] : [];
    case "attention":
      return [];
  }
}
