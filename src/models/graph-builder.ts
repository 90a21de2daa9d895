import type {
  Activation,
  Attention,
  DeltaNet,
  Graph,
  HeadNorms,
  Linear,
  Matrix,
  NormWeights,
  Operation,
  RotaryAngles,
  RowLinear,
  ShortConv,
  Value,
  ValueShape,
  Weight,
} from "./graph.ts";

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
    { width, ...attention }: Pick<Attention, "layer" | "scale" | "window" | "cap"> & { readonly width: number },
  ): Value {
    const output = this.#value(width);
    this.#operations.push({ type: "attention", label, ...attention, input, output });
    return output;
  }

  shortConv(label: string, input: Value, conv: Pick<ShortConv, "layer" | "kernel" | "width" | "taps">): Value {
    const output = this.#value(conv.width);
    this.#operations.push({ type: "shortConv", label, ...conv, input, output });
    return output;
  }

  deltaNet(label: string, input: Value, net: Omit<DeltaNet, "type" | "label" | "input" | "output">): Value {
    const output = this.#value(net.valueHeads * net.valueDim);
    this.#operations.push({ type: "deltaNet", label, ...net, input, output });
    return output;
  }

  outputGate(label: string, gates: Value, firstColumn: number, value: Value): void {
    this.#operations.push({ type: "outputGate", label, gates, firstColumn, value });
  }

  head(table: Matrix, input: Value, cap: number | null = null): void {
    this.#operations.push({ type: "head", label: "head", table, cap, input });
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
