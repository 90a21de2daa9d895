// A Llama or Qwen3 checkpoint as the ONNX graph that transformers.js drives, of the same operators as published exports: attention
// is one operator of onnxruntime's, which also turns queries and keys and appends to the cache, and each norm adds what
// came before it to the residual stream.
//
// GroupQueryAttention assumes that every row of a batch begins with its text: padding on the left would count as text.

import type { LlamaWeights } from "./llama-weights.ts";
import { addLogits, declareInputs, pastName, presentName } from "./onnx-decoder.ts";
import { INT32, OnnxGraph } from "./onnx.ts";
import { transpose } from "./transpose.ts";

const DOMAIN = "com.microsoft";

/** Weights in f32. */
export function llamaToOnnx({ config, embedding, layers, norm, head }: LlamaWeights): OnnxGraph {
  const { shape, intermediateSize, rmsNormEps } = config;
  const { hiddenSize, numHeads, numKvHeads, headDim, vocabSize } = shape;
  const queryWidth = numHeads * headDim;
  const graph = new OnnxGraph();
  declareInputs(graph, shape);
  const common = { ...sequenceLengths(graph), ...rotations(graph, config) };

  const multiply = (input: string, name: string, [inputs, outputs]: [number, number], weight: Float32Array) => {
    const turned = transpose(weight, outputs, inputs);
    return graph.node("MatMul", [input, graph.floats(`${name}.weight`, [inputs, outputs], turned)]);
  };
  const epsilon = { float: rmsNormEps };
  const scaleOf = (name: string, weight: Float32Array) => graph.floats(`${name}.weight`, [hiddenSize], weight);
  /** Adds to the residual stream and normalises the sum: returns both. */
  const addNorm = (stream: string, added: string, name: string, weight: Float32Array) => {
    const sum = `${name}.stream`;
    const normed = graph.node("SkipSimplifiedLayerNormalization", [stream, added, scaleOf(name, weight)], {
      domain: DOMAIN,
      outputs: [`${name}.output`, "", "", sum],
      attributes: { epsilon },
    });
    return [normed, sum] as const;
  };

  let stream = graph.node("Gather", [graph.floats("embed_tokens", [vocabSize, hiddenSize], embedding), "input_ids"]);
  let normed = "";
  let added = "";
  for (const [index, layer] of layers.entries()) {
    const name = (part: string) => `layers.${index}.${part}`;
    if (index === 0) {
      normed = graph.node("SimplifiedLayerNormalization", [stream, scaleOf(name("attn_norm"), layer.attnNorm)], {
        attributes: { axis: { int: -1 }, epsilon },
      });
    } else [normed, stream] = addNorm(stream, added, name("attn_norm"), layer.attnNorm);
    const product = (part: string, first: number, numHeadsOfPart: number) => {
      const rows = [first * headDim, (first + numHeadsOfPart) * headDim] as const;
      const weight = layer.qkv.subarray(rows[0] * hiddenSize, rows[1] * hiddenSize);
      return multiply(normed, name(part), [hiddenSize, numHeadsOfPart * headDim], weight);
    };
    const { headNorms } = layer;
    const normHeads = (input: string, part: string, heads: number, weight: Float32Array) => {
      const byHead = graph.node("Reshape", [input, graph.integers(`${name(part)}.by_head`, [0, 0, heads, headDim])]);
      const scaled = graph.node(
        "SimplifiedLayerNormalization",
        [byHead, graph.floats(`${name(part)}.weight`, [headDim], weight)],
        { attributes: { axis: { int: -1 }, epsilon } },
      );
      return graph.node("Reshape", [scaled, graph.integers(`${name(part)}.flat`, [0, 0, heads * headDim])]);
    };
    const [queries, keys, values] = headNorms
      ? [
          normHeads(product("q_proj", 0, numHeads), "q_norm", numHeads, headNorms.query),
          normHeads(product("k_proj", numHeads, numKvHeads), "k_norm", numKvHeads, headNorms.key),
          product("v_proj", numHeads + numKvHeads, numKvHeads),
        ]
      : [product("qkv_proj", 0, numHeads + 2 * numKvHeads), "", ""]; // all in one
    const cache = [pastName(index, "key"), pastName(index, "value")];
    const attended = graph.node(
      "GroupQueryAttention",
      [queries, keys, values, ...cache, common.lengthsBeforeLast, common.longest, common.cosines, common.sines],
      {
        domain: DOMAIN,
        outputs: [name("attended"), presentName(index, "key"), presentName(index, "value")],
        attributes: {
          num_heads: { int: numHeads },
          kv_num_heads: { int: numKvHeads },
          scale: { float: 1 / Math.sqrt(headDim) },
          do_rotary: { int: 1 },
        },
      },
    );
    added = multiply(attended, name("o_proj"), [queryWidth, hiddenSize], layer.o);
    [normed, stream] = addNorm(stream, added, name("mlp_norm"), layer.mlpNorm);
    const gate = multiply(normed, name("gate_proj"), [hiddenSize, intermediateSize], layer.gate);
    const up = multiply(normed, name("up_proj"), [hiddenSize, intermediateSize], layer.up);
    // onnxruntime makes one operator of SiLU's two.
    const silu = graph.node("Mul", [gate, graph.node("Sigmoid", [gate])]);
    const inner = graph.node("Mul", [silu, up]);
    added = multiply(inner, name("down_proj"), [intermediateSize, hiddenSize], layer.down);
  }
  [normed] = addNorm(stream, added, "norm", norm);
  addLogits(graph, normed, transpose(head ?? embedding, vocabSize, hiddenSize), [hiddenSize, vocabSize]);
  return graph;
}

/** Returns each row's length less one, and the length of the longest, as GroupQueryAttention needs them. */
function sequenceLengths(graph: OnnxGraph) {
  const one = graph.integers("one", 1);
  const toInt32 = (input: string) => graph.node("Cast", [input], { attributes: { to: { int: INT32 } } });
  const lengths = graph.node("ReduceSum", ["attention_mask", graph.integers("axis_1", [1])], {
    attributes: { keepdims: { int: 0 } },
  });
  return {
    lengthsBeforeLast: toInt32(graph.node("Sub", [lengths, one])),
    longest: toInt32(graph.node("Gather", [graph.node("Shape", ["attention_mask"]), one])),
  };
}

/** Returns cosines and sines of all positions' angles: [maxPositions, headDim / 2]. */
function rotations(graph: OnnxGraph, { angles, shape }: LlamaWeights["config"]) {
  const { inverseFrequencies } = angles;
  const { maxPositions } = shape;
  const table = (name: string, valueOf: (angle: number) => number) => {
    const values = new Float32Array(maxPositions * inverseFrequencies.length);
    for (let position = 0, i = 0; position < maxPositions; position++) {
      for (const frequency of inverseFrequencies) values[i++] = valueOf(position * frequency);
    }
    return graph.floats(name, [maxPositions, inverseFrequencies.length], values);
  };
  return { cosines: table("cos_cache", Math.cos), sines: table("sin_cache", Math.sin) };
}
