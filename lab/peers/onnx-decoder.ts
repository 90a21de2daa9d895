// A model's graph as the ONNX graph that transformers.js drives, of the same operators as published exports. Of a GPT-2 that is
// plain attention. Of a Llama attention is one operator of onnxruntime's, which also turns queries and keys and appends to the
// cache, and each norm adds what came before it to the residual stream.
//
// GroupQueryAttention assumes that every row of a batch begins with its text: padding on the left would count as text.

import type { Attention, Matrix, NormWeights, Operation, Value, Weight } from "../../src/models/graph.ts";
import type { ModelShape } from "../../src/protocol/model-shape.ts";
import { transpose, type PeerCheckpoint } from "./checkpoint.ts";
import { BOOL, INT32, OnnxGraph } from "./onnx.ts";
import { GROUP, quantise, QUANTISATIONS, toOnnxBytes, valuesOf, type Quantisation } from "./quantise.ts";

const ONNXRUNTIME = { domain: "com.microsoft" } as const;
const LAST_AXIS = { axis: { int: -1 } } as const;

type Write = { [Type in Operation["type"]]: (operation: Extract<Operation, { readonly type: Type }>) => void };

/**
 * Returns the graph, with weights in f32, or with products of integers as published exports of 4 bits have them.
 * @throws Error for an operation that no peer's export has
 */
export function toOnnx({ model: { graph: given, shape }, read }: PeerCheckpoint, type?: Quantisation): OnnxGraph {
  const graph = new OnnxGraph();
  declareInputs(graph, shape);
  const node = graph.node.bind(graph);
  const { numHeads, numKvHeads, headDim } = shape;
  /** Names of values, and what is added to each before it is read. */
  const names = new Map<Value, string>();
  const added = new Map<Value, string>();
  /** Queries, keys and values that are not one value, since heads of two of them are normalised. */
  const apart = new Map<Value, readonly string[]>();
  const isApart = new Set(given.operations.flatMap((each) => (each.type === "rotary" && each.norms ? each.value : [])));
  const frequencies = new Map<Value, readonly number[]>();
  let mask: string | null = null;
  let lengthsAndAngles: readonly string[] | null = null;

  const sum = (terms: readonly string[]) => (terms.length > 1 ? node("Add", terms) : (terms[0] ?? ""));
  const valueOf = (value: Value) => {
    const term = added.get(value);
    added.delete(value);
    const name = sum([names.get(value) ?? "", ...(term === undefined ? [] : [term])]);
    names.set(value, name);
    return name;
  };
  const floats = (weight?: Weight) =>
    weight ? [graph.floats(nameOf(weight), weight.tensors[0]?.shape ?? [], read(weight))] : [];
  const product = (
    input: string,
    { inputs, outputs, layout }: Pick<Matrix, "inputs" | "outputs" | "layout">,
    name: string,
    values: Float32Array,
    outputName?: string,
  ) => {
    if (type) {
      const { bits } = QUANTISATIONS[type];
      const quantised = quantise(layout === "in-out" ? transpose(values, inputs, outputs) : values, type);
      const groups = inputs / GROUP;
      const bytes = graph.bytes(name, [outputs, groups, (GROUP * bits) / 8], toOnnxBytes(quantised, type));
      const scales = graph.floats(`${name}.scales`, [outputs * groups], quantised.scales);
      const sizes = { K: inputs, N: outputs, bits, block_size: GROUP };
      const attributes = Object.fromEntries(Object.entries(sizes).map(([key, int]) => [key, { int }]));
      return node("MatMulNBits", [input, bytes, scales], {
        ...ONNXRUNTIME,
        attributes,
        ...(outputName && { outputs: [outputName] }),
      });
    }
    const turned = layout === "in-out" ? values : transpose(values, outputs, inputs);
    const weights = graph.floats(name, [inputs, outputs], turned);
    return node("MatMul", [input, weights], outputName ? { outputs: [outputName] } : {});
  };
  const multiply = (input: Value, matrix: Matrix) => product(valueOf(input), matrix, nameOf(matrix), read(matrix));
  const rmsNorm = (input: string, { weight, epsilon }: NormWeights) =>
    node("SimplifiedLayerNormalization", [input, ...floats(weight)], {
      attributes: { ...LAST_AXIS, epsilon: { float: epsilon } },
    });
  const normHeads = (input: string, norm: NormWeights, heads: number) => {
    const reshape = (what: string, ...sizes: number[]) =>
      node("Reshape", [what, graph.integers(`${nameOf(norm.weight)}.${sizes.length}`, [0, 0, ...sizes])]);
    return reshape(rmsNorm(reshape(input, heads, headDim), norm), heads * headDim);
  };

  const write: Write = {
    embed({ table, positions, output }) {
      const rows = type && "layout" in table ? valuesOf(quantise(read(table), type), type) : read(table);
      const stored = graph.floats(nameOf(table), table.tensors[0]?.shape ?? [], rows);
      names.set(output, node("Gather", [stored, "input_ids"]));
      if (!positions) return;
      graph.input("position_ids", "int64", ["batch_size", "new"]);
      added.set(output, node("Gather", [...floats(positions), "position_ids"]));
    },
    norm({ norm, input, output }) {
      const { kind, weight, bias, epsilon: float } = norm;
      const term = added.get(input);
      const epsilon = { float };
      if (kind === "layer") {
        const inputs = [valueOf(input), ...floats(weight), ...floats(bias)];
        names.set(output, node("LayerNormalization", inputs, { attributes: { ...LAST_AXIS, epsilon } }));
      } else if (term === undefined) names.set(output, rmsNorm(valueOf(input), norm));
      else {
        const inputs = [names.get(input) ?? "", term, ...floats(weight)];
        const outputs = [`${nameOf(weight)}.output`, "", "", `${nameOf(weight)}.stream`];
        const options = { ...ONNXRUNTIME, outputs, attributes: { epsilon } };
        names.set(output, node("SkipSimplifiedLayerNormalization", inputs, options));
        names.set(input, outputs[3] ?? "");
        added.delete(input);
      }
    },
    linear({ linear: { matrix, bias }, input, output, activation, addsToOutput }) {
      if (activation !== null && activation !== "gelu_tanh") throw new Error(`${activation} can't be converted.`);
      if (isApart.has(output)) {
        const values = read(matrix);
        let end = 0;
        const parts = matrix.tensors.map(({ name, shape: [outputs = 0] }) => {
          const rows = values.subarray(end, (end += outputs * matrix.inputs));
          return product(valueOf(input), { ...matrix, outputs }, name, rows);
        });
        apart.set(output, parts);
        return;
      }
      const terms = [multiply(input, matrix), ...floats(bias)];
      const result = activation ? node("FastGelu", terms, ONNXRUNTIME) : sum(terms);
      (addsToOutput ? added : names).set(output, result);
    },
    gate({ gate, up, activation, input, output }) {
      if (activation !== "silu" || gate.bias || up.bias) throw new Error("Only SiLU without biases can be converted.");
      const gated = multiply(input, gate.matrix);
      const raised = multiply(input, up.matrix);
      // onnxruntime makes one operator of SiLU's two.
      names.set(output, node("Mul", [node("Mul", [gated, node("Sigmoid", [gated])]), raised]));
    },
    rotary({ angles, norms, value }) {
      frequencies.set(value, angles.inverseFrequencies);
      const [queries = "", keys = "", values = ""] = apart.get(value) ?? [];
      if (!norms) return;
      apart.set(value, [normHeads(queries, norms.queries, numHeads), normHeads(keys, norms.keys, numKvHeads), values]);
    },
    shortConv() {
      throw new Error("Short convolutions can't be converted.");
    },
    deltaNet() {
      throw new Error("Delta nets can't be converted.");
    },
    outputGate() {
      throw new Error("Gates of attention can't be converted.");
    },
    attention({ layer, scale, window, input, output }) {
      if (window) throw new Error("Attention in a window can't be converted.");
      const turns = frequencies.get(input);
      if (!turns) {
        mask ??= attentionMask(graph);
        names.set(output, plainAttention(graph, shape, { layer, scale }, valueOf(input), mask));
        return;
      }
      lengthsAndAngles ??= [...sequenceLengths(graph), ...rotations(graph, turns, shape)];
      const queriesKeysValues = apart.get(input) ?? [valueOf(input), "", ""];
      const cache = [pastName(layer, "key"), pastName(layer, "value")];
      const attended = node("GroupQueryAttention", [...queriesKeysValues, ...cache, ...lengthsAndAngles], {
        ...ONNXRUNTIME,
        outputs: [`attended.${layer}`, presentName(layer, "key"), presentName(layer, "value")],
        attributes: {
          num_heads: { int: numHeads },
          kv_num_heads: { int: numKvHeads },
          scale: { float: scale },
          do_rotary: { int: 1 },
        },
      });
      names.set(output, attended);
    },
    head({ table, input }) {
      const { outputs: vocabSize } = table;
      const start = node("Unsqueeze", [node("Neg", ["num_logits_to_keep"]), graph.integers("logits_axis_0", [0])]);
      const end = graph.integers("to_the_end", [Number.MAX_SAFE_INTEGER]);
      const last = node("Slice", [valueOf(input), start, end, graph.integers("logits_axis_1", [1])]);
      product(last, { ...table, layout: "out-in" }, "head", read(table), "logits");
      graph.output("logits", "float", ["batch_size", "kept", vocabSize]);
    },
  };
  for (const operation of given.operations) (write[operation.type] as (each: Operation) => void)(operation);
  return graph;
}

/** [batch, new, 3 width] to [batch, new, width]. */
function plainAttention(
  graph: OnnxGraph,
  { numHeads, headDim, hiddenSize }: ModelShape,
  { layer, scale }: Pick<Attention, "layer" | "scale">,
  qkv: string,
  mask: string,
): string {
  const node = graph.node.bind(graph);
  const integers = (name: string, ...values: number[]) => graph.integers(`${name}.${layer}`, values);
  const turn = (what: string, ...order: number[]) =>
    node("Transpose", [what], { attributes: { perm: { ints: order } } });
  const outputs = ["q", "k", "v"].map((name) => `${name}.${layer}`);
  node("Split", [qkv, integers("thirds", hiddenSize, hiddenSize, hiddenSize)], { outputs, attributes: LAST_AXIS });
  const heads = integers("heads", 0, 0, numHeads, headDim);
  const [query = "", key = "", value = ""] = outputs.map((each) => turn(node("Reshape", [each, heads]), 0, 2, 1, 3));
  const append = (kind: "key" | "value", what: string) =>
    node("Concat", [pastName(layer, kind), what], {
      outputs: [presentName(layer, kind)],
      attributes: { axis: { int: 2 } },
    });
  const products = node("MatMul", [query, turn(append("key", key), 0, 1, 3, 2)]);
  const scores = node("Mul", [products, graph.floats(`scale.${layer}`, [], Float32Array.of(scale))]);
  const weights = node("Softmax", [node("Add", [scores, mask])], { attributes: LAST_AXIS });
  const attended = turn(node("MatMul", [weights, append("value", value)]), 0, 2, 1, 3);
  return node("Reshape", [attended, integers("flat", 0, 0, hiddenSize)]);
}

function nameOf({ tensors: [first] }: Weight): string {
  return first?.name ?? "";
}

function pastName(layer: number, kind: "key" | "value"): string {
  return `past_key_values.${layer}.${kind}`;
}

function presentName(layer: number, kind: "key" | "value"): string {
  return `present.${layer}.${kind}`;
}

/**
 * transformers.js recognises the axis of the empty cache that is as long as the batch by its name "batch_size".
 *
 * Declares ids, a mask, the number of last positions whose logits are requested, and the keys and values so far; as outputs
 * the keys and values with the new ones appended.
 */
function declareInputs(graph: OnnxGraph, { numLayers, numKvHeads, headDim }: ModelShape): void {
  graph.input("input_ids", "int64", ["batch_size", "new"]);
  graph.input("attention_mask", "int64", ["batch_size", "all"]);
  graph.input("num_logits_to_keep", "int64", []);
  for (let index = 0; index < numLayers; index++) {
    for (const kind of ["key", "value"] as const) {
      graph.input(pastName(index, kind), "float", ["batch_size", numKvHeads, "past", headDim]);
      graph.output(presentName(index, kind), "float", ["batch_size", numKvHeads, "all", headDim]);
    }
  }
}

/** Returns [batch, 1, new, all]: 0 for positions that a new one may see, and the least f32 for others. */
function attentionMask(graph: OnnxGraph): string {
  const node = graph.node.bind(graph);
  const [zero, one] = [graph.integers("zero", 0), graph.integers("one", 1)];
  const unsqueeze = (what: string, ...axes: number[]) =>
    node("Unsqueeze", [what, graph.integers(`axes_${axes.join("_")}`, axes)]);
  const sizeOf = (name: string) => node("Gather", [node("Shape", [name]), one]);
  const numAll = sizeOf("attention_mask");
  const numPast = node("Sub", [numAll, sizeOf("input_ids")]);
  const keys = unsqueeze(node("Range", [zero, numAll, one]), 0);
  const queries = unsqueeze(node("Range", [numPast, numAll, one]), 1);
  const isBefore = unsqueeze(node("LessOrEqual", [keys, queries]), 0, 1);
  const isText = unsqueeze(node("Cast", ["attention_mask"], { attributes: { to: { int: BOOL } } }), 1, 2);
  return node("Where", [
    node("And", [isBefore, isText]),
    graph.floats("seen", [], Float32Array.of(0)),
    graph.floats("unseen", [], Float32Array.of(-3.4028234663852886e38)),
  ]);
}

/** Returns each row's length less one, and the length of the longest, as GroupQueryAttention needs them. */
function sequenceLengths(graph: OnnxGraph): [lengthsBeforeLast: string, longest: string] {
  const one = graph.integers("one", 1);
  const toInt32 = (input: string) => graph.node("Cast", [input], { attributes: { to: { int: INT32 } } });
  const lengths = graph.node("ReduceSum", ["attention_mask", graph.integers("axis_1", [1])], {
    attributes: { keepdims: { int: 0 } },
  });
  return [
    toInt32(graph.node("Sub", [lengths, one])),
    toInt32(graph.node("Gather", [graph.node("Shape", ["attention_mask"]), one])),
  ];
}

/** Returns cosines and sines of all positions' angles: [maxPositions, headDim / 2]. */
function rotations(graph: OnnxGraph, frequencies: readonly number[], { maxPositions }: ModelShape): string[] {
  return [Math.cos, Math.sin].map((valueOf) => {
    const values = new Float32Array(maxPositions * frequencies.length);
    for (let position = 0, i = 0; position < maxPositions; position++) {
      for (const frequency of frequencies) values[i++] = valueOf(position * frequency);
    }
    return graph.floats(`${valueOf.name}_cache`, [maxPositions, frequencies.length], values);
  });
}
