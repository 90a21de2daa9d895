// A model's computation as plain data: a list of operations on weights and values, in the order of computation. Families
// write it, backends compile it. Nothing here knows what a GPU is.

/** A tensor of the checkpoint as an operation reads it. The same object is the same tensor, as with a tied head. */
export interface Weight {
  /** The rows of several follow one another. */
  readonly tensors: readonly TensorRows[];
}

/** A tensor of the checkpoint, or some of its rows. */
export interface TensorRows {
  /** Without the checkpoint's prefix. */
  readonly name: string;
  readonly shape: readonly number[];
  /** Where the rows begin in a larger tensor, and the number of rows that it has. [a tensor of its own] */
  readonly within?: { readonly firstRow: number; readonly numRows: number };
  /** Which rows are heads', if the checkpoint does not have the pairs that turn together in a head's halves. [all have] */
  readonly heads?: HeadOrder;
}

/** The first values of a head turn in halves of their own, and pairs of neighbours follow, which may not turn at all. */
export interface HeadOrder {
  /** Number of values in the two halves. 0: all pairs are neighbours. */
  readonly inHalves: number;
  /** Number of rows of heads that turn; others follow them. */
  readonly rows: number;
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

/** "relu2": max(0, x)^2. */
export type Activation = "gelu_tanh" | "gelu_erf" | "silu" | "relu2";

/** Normalises rows: (x - mean) / sqrt(variance + epsilon), or x / sqrt(mean(x^2) + epsilon); times weight, plus bias. */
export interface NormWeights {
  readonly kind: "layer" | "rms";
  readonly weight: Weight;
  /** [0] */
  readonly bias?: Weight;
  readonly epsilon: number;
  /** Added to each element of the weight: 1 where the checkpoint keeps weight - 1. [0] */
  readonly weightOffset?: number;
  /** Multiplies the weight, of norms without a bias. [1] */
  readonly weightFactor?: number;
}

/** Returns what a norm multiplies by where the checkpoint keeps this value. */
export function normWeight({ weightOffset = 0, weightFactor = 1 }: NormWeights, stored: number): number {
  return (stored + weightOffset) * weightFactor;
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
  /** Pairs of frequency 0 do not turn, and are not scaled. */
  readonly inverseFrequencies: readonly number[];
  /** Factor of cosine and sine. */
  readonly scaling: number;
  /** Other frequencies, for engines whose longest sequence has more than `from` tokens. [the same] */
  readonly long?: { readonly from: number; readonly inverseFrequencies: readonly number[] };
  /** Multiplies the queries of position p by 1 + beta log(1 + floor(p / period)). [1] */
  readonly queryGrowth?: { readonly beta: number; readonly period: number };
}

/** Returns the frequencies in an engine whose longest sequence has this many tokens. */
export function frequenciesFor({ inverseFrequencies, long }: RotaryAngles, maxLength: number): readonly number[] {
  return long && maxLength > long.from ? long.inverseFrequencies : inverseFrequencies;
}

/** Returns a graph whose frequencies are those of an engine of that longest sequence, also in one of another. */
export function withFrequenciesFor({ operations, values }: Graph, maxLength: number): Graph {
  const fixed = (angles: RotaryAngles): RotaryAngles => {
    const { scaling, queryGrowth } = angles;
    return { inverseFrequencies: frequenciesFor(angles, maxLength), scaling, ...(queryGrowth && { queryGrowth }) };
  };
  return {
    values,
    operations: operations.map((one) => (one.type === "rotary" ? { ...one, angles: fixed(one.angles) } : one)),
  };
}

/** Returns what the queries of a position are multiplied by. */
export function queryFactor({ queryGrowth }: RotaryAngles, position: number): number {
  return queryGrowth ? 1 + queryGrowth.beta * Math.log(1 + Math.floor(position / queryGrowth.period)) : 1;
}

export interface RmsNormWeights extends NormWeights {
  readonly kind: "rms";
  readonly bias?: never;
}

export interface HeadNorms {
  readonly queries: RmsNormWeights;
  readonly keys: RmsNormWeights;
  /** "head": each head by itself, and all have one weight [headDim]. "width": all heads together. */
  readonly over: "head" | "width";
  /** Whether heads are rotated before they are normalised. The angles' scaling is 1 then. */
  readonly afterRotation: boolean;
}

/** Rotates the queries and keys of value = [queries | keys | values] by their positions, in place. */
export interface Rotary extends Labelled {
  readonly type: "rotary";
  readonly angles: RotaryAngles;
  /** [none] */
  readonly norms?: HeadNorms | null;
  readonly value: Value;
}

/** output = softmax(cap tanh(scale q k / cap)) v, causal, over the layer's cache; input = [queries | keys | values]. */
export interface Attention extends Labelled {
  readonly type: "attention";
  readonly layer: number;
  readonly scale: number;
  /** Positions that a row sees, its own and those right before it; null: all before it. [null] */
  readonly window?: number | null;
  /** Null: scores are not capped. [null] */
  readonly cap?: number | null;
  readonly input: Value;
  readonly output: Value;
}

/**
 * LFM2's short convolution. input = [b | c | x]; output = c * sum over t of weights[t] u[p - taps + 1 + t], where u = b * x and p is
 * the row's position; u before the sequence's beginning is 0.
 */
export interface ShortConv extends Labelled {
  readonly type: "shortConv";
  /** Counts convolutions alone. */
  readonly layer: number;
  /** [width, 1, taps] */
  readonly kernel: Weight;
  readonly width: number;
  readonly taps: number;
  readonly input: Value;
  readonly output: Value;
}

/**
 * A gated delta net (Qwen3.5), with the convolution before it and the norm after it.
 *
 *   input     [q, keyHeads x keyDim | k, the same | v, valueHeads x valueDim | z, the same | b, valueHeads | a, valueHeads]
 *   q, k, v   SiLU of a causal convolution along positions, each column by itself; then q and k of each head are divided by
 *             sqrt(sum of squares + 1e-6), and q by sqrt(keyDim)
 *   decay     exp(-rate softplus(a + dtBias))
 *   state     S = decay S;  S += k (sigmoid(b) (v - k S))      [keyDim, valueDim] of each value head, zero at first
 *   output    norm(q S) SiLU(z)                                 [valueHeads x valueDim]; the norm is each head's
 */
export interface DeltaNet extends Labelled {
  readonly type: "deltaNet";
  /** Counts delta nets alone. */
  readonly layer: number;
  /** [2 keyHeads keyDim + valueHeads valueDim, 1, taps] */
  readonly kernel: Weight;
  readonly taps: number;
  /** [valueHeads]. "log": the rate's logarithm. "negative": the negative rate. */
  readonly rate: { readonly weight: Weight; readonly form: "log" | "negative" };
  /** [valueHeads] */
  readonly dtBias: Weight;
  /** [valueDim] */
  readonly norm: RmsNormWeights;
  readonly keyHeads: number;
  readonly valueHeads: number;
  readonly keyDim: number;
  readonly valueDim: number;
  /** The key head of value head j. "grouped": floor(j / (valueHeads / keyHeads)). "tiled": j mod keyHeads. */
  readonly headOrder: "grouped" | "tiled";
  readonly input: Value;
  readonly output: Value;
}

/** Returns the columns that a delta net convolves: q, k and v. */
export function convWidthOf(net: Pick<DeltaNet, "keyHeads" | "valueHeads" | "keyDim" | "valueDim">): number {
  return 2 * net.keyHeads * net.keyDim + net.valueHeads * net.valueDim;
}

/** value *= sigmoid(columns of gates, from firstColumn on). */
export interface OutputGate extends Labelled {
  readonly type: "outputGate";
  readonly gates: Value;
  readonly firstColumn: number;
  readonly value: Value;
}

/** Logits of the rows that sample: input W, or cap tanh(input W / cap). */
export interface Head extends Labelled {
  readonly type: "head";
  /** [vocabSize, width] */
  readonly table: Matrix;
  /** Null: logits are not capped. [null] */
  readonly cap?: number | null;
  readonly input: Value;
}

export type Operation =
  | Embed
  | Norm
  | LinearOperation
  | Gate
  | Rotary
  | Attention
  | ShortConv
  | DeltaNet
  | OutputGate
  | Head;

export interface Graph {
  readonly operations: readonly Operation[];
  readonly values: readonly ValueShape[];
}

/** Returns the caps of a graph's scores, the same in all layers, and of its logits; null where there is none. */
export function capsOf({ operations }: Graph) {
  const capOf = (type: Operation["type"]) => operations.find((one): one is Attention | Head => one.type === type)?.cap;
  return { attentionCap: capOf("attention") ?? null, logitCap: capOf("head") ?? null };
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
    case "shortConv":
      return [operation.kernel];
    case "deltaNet":
      return [operation.kernel, operation.rate.weight, operation.dtBias, ...norm(operation.norm)];
    case "attention":
    case "outputGate":
      return [];
  }
}

/** Returns the values that an operation reads, without those that it only adds to. */
export function readBy(operation: Operation): readonly Value[] {
  if ("input" in operation) return [operation.input];
  if (operation.type === "outputGate") return [operation.gates, operation.value];
  return operation.type === "rotary" ? [operation.value] : [];
}
