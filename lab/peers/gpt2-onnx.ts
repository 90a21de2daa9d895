// A GPT-2 checkpoint as the ONNX graph that transformers.js drives.

import type { Gpt2Weights, WeightAndBias } from "./gpt2-weights.ts";
import { addLogits, declareInputs, pastName, presentName } from "./onnx-decoder.ts";
import { BOOL, OnnxGraph } from "./onnx.ts";
import { transpose } from "./transpose.ts";

/** Weights in f32. */
export function gpt2ToOnnx(weights: Gpt2Weights): OnnxGraph {
  const { nLayer, nEmbd, nHead, headDim, nInner, vocabSize, layerNormEpsilon } = weights.config;
  const graph = new OnnxGraph();
  const { node } = bind(graph);

  const norm = (input: string, name: string, { weight, bias }: WeightAndBias) =>
    node(
      "LayerNormalization",
      [input, graph.floats(`${name}.weight`, [nEmbd], weight), graph.floats(`${name}.bias`, [nEmbd], bias)],
      { attributes: { axis: { int: -1 }, epsilon: { float: layerNormEpsilon } } },
    );
  /** The product, and the bias's name: it is added here or by what follows. */
  const multiply = (input: string, name: string, [inputs, outputs]: [number, number], linear: WeightAndBias) => ({
    product: node("MatMul", [input, graph.floats(`${name}.weight`, [inputs, outputs], linear.weight)]),
    bias: graph.floats(`${name}.bias`, [outputs], linear.bias),
  });
  const addBias = ({ product, bias }: { product: string; bias: string }) => node("Add", [product, bias]);

  declareInputs(graph, { numLayers: nLayer, numKvHeads: nHead, headDim });
  graph.input("position_ids", "int64", ["batch_size", "new"]);
  const mask = attentionMask(graph);
  const tokens = node("Gather", [graph.floats("wte", [vocabSize, nEmbd], weights.wte), "input_ids"]);
  const positions = node("Gather", [
    graph.floats("wpe", [weights.config.nPositions, nEmbd], weights.wpe),
    "position_ids",
  ]);
  const constants = {
    thirds: graph.integers("thirds", [nEmbd, nEmbd, nEmbd]),
    headsShape: graph.integers("heads_shape", [0, 0, nHead, headDim]),
    flatShape: graph.integers("flat_shape", [0, 0, nEmbd]),
    scale: graph.floats("scale", [], Float32Array.of(1 / Math.sqrt(headDim))),
  };

  let hidden = node("Add", [tokens, positions]);
  for (const [index, layer] of weights.layers.entries()) {
    const name = (part: string) => `h.${index}.${part}`;
    const qkv = addBias(multiply(norm(hidden, name("ln_1"), layer.ln1), name("c_attn"), [nEmbd, 3 * nEmbd], layer.qkv));
    const context = attention(graph, qkv, mask, constants, index);
    hidden = node("Add", [hidden, addBias(multiply(context, name("c_proj"), [nEmbd, nEmbd], layer.proj))]);
    const { product, bias } = multiply(norm(hidden, name("ln_2"), layer.ln2), name("c_fc"), [nEmbd, nInner], layer.fc);
    const inner = node("FastGelu", [product, bias], { domain: "com.microsoft" });
    hidden = node("Add", [hidden, addBias(multiply(inner, name("mlp.c_proj"), [nInner, nEmbd], layer.fcProj))]);
  }

  const head = transpose(weights.wte, vocabSize, nEmbd);
  addLogits(graph, norm(hidden, "ln_f", weights.lnF), head, [nEmbd, vocabSize]);
  return graph;
}

function bind(graph: OnnxGraph) {
  return { node: graph.node.bind(graph), integers: graph.integers.bind(graph) };
}

/** Returns [batch, 1, new, all]: 0 for positions that a new one may see, and the least f32 for others. */
function attentionMask(graph: OnnxGraph): string {
  const { node, integers } = bind(graph);
  const zero = integers("zero", 0);
  const one = integers("one", 1);
  const sizeOf = (name: string) => node("Gather", [node("Shape", [name]), one]);
  const numAll = sizeOf("attention_mask");
  const numPast = node("Sub", [numAll, sizeOf("input_ids")]);
  const keys = node("Unsqueeze", [node("Range", [zero, numAll, one]), integers("axis_0", [0])]);
  const queries = node("Unsqueeze", [node("Range", [numPast, numAll, one]), integers("axis_1", [1])]);
  const isBefore = node("Unsqueeze", [node("LessOrEqual", [keys, queries]), integers("axes_0_1", [0, 1])]);
  const isText = node("Unsqueeze", [
    node("Cast", ["attention_mask"], { attributes: { to: { int: BOOL } } }),
    integers("axes_1_2", [1, 2]),
  ]);
  return node("Where", [
    node("And", [isBefore, isText]),
    graph.floats("seen", [], Float32Array.of(0)),
    graph.floats("unseen", [], Float32Array.of(-3.4028234663852886e38)),
  ]);
}

interface AttentionConstants {
  readonly thirds: string;
  readonly headsShape: string;
  readonly flatShape: string;
  readonly scale: string;
}

/** [batch, new, 3 nEmbd] to [batch, new, nEmbd]. */
function attention(
  graph: OnnxGraph,
  qkv: string,
  mask: string,
  { thirds, headsShape, flatShape, scale }: AttentionConstants,
  index: number,
): string {
  const { node } = bind(graph);
  const outputs = ["q", "k", "v"].map((name) => `${name}.${index}`) as [string, string, string];
  node("Split", [qkv, thirds], { outputs, attributes: { axis: { int: -1 } } });
  const turn = (input: string, ...order: number[]) =>
    node("Transpose", [input], { attributes: { perm: { ints: order } } });
  const toHeads = (input: string) => turn(node("Reshape", [input, headsShape]), 0, 2, 1, 3);
  const append = (kind: "key" | "value", input: string) =>
    node("Concat", [pastName(index, kind), toHeads(input)], {
      outputs: [presentName(index, kind)],
      attributes: { axis: { int: 2 } },
    });
  const [query, key, value] = outputs;
  const keys = append("key", key);
  const values = append("value", value);
  const scores = node("Mul", [node("MatMul", [toHeads(query), turn(keys, 0, 1, 3, 2)]), scale]);
  const weights = node("Softmax", [node("Add", [scores, mask])], { attributes: { axis: { int: -1 } } });
  return node("Reshape", [turn(node("MatMul", [weights, values]), 0, 2, 1, 3), flatShape]);
}
