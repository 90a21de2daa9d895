// The common part of all decoders' ONNX graphs: the inputs and outputs that transformers.js uses.

import type { OnnxGraph } from "./onnx.ts";

interface CacheShape {
  readonly numLayers: number;
  readonly numKvHeads: number;
  readonly headDim: number;
}

/**
 * transformers.js recognises the axis of the empty cache that is as long as the batch by its name "batch_size".
 *
 * Declares ids, a mask, the number of last positions whose logits are requested, and the keys and values so far; as outputs
 * the keys and values with the new ones appended.
 */
export function declareInputs(graph: OnnxGraph, { numLayers, numKvHeads, headDim }: CacheShape): void {
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

export function pastName(layer: number, kind: "key" | "value"): string {
  return `past_key_values.${layer}.${kind}`;
}

export function presentName(layer: number, kind: "key" | "value"): string {
  return `present.${layer}.${kind}`;
}

/** @param head [width, vocabSize] */
export function addLogits(
  graph: OnnxGraph,
  hidden: string,
  head: Float32Array,
  [width, vocabSize]: readonly [number, number],
): void {
  const axis0 = graph.integers("logits_axis_0", [0]);
  const axis1 = graph.integers("logits_axis_1", [1]);
  const start = graph.node("Unsqueeze", [graph.node("Neg", ["num_logits_to_keep"]), axis0]);
  const end = graph.integers("to_the_end", [Number.MAX_SAFE_INTEGER]);
  const last = graph.node("Slice", [hidden, start, end, axis1]);
  graph.node("MatMul", [last, graph.floats("lm_head", [width, vocabSize], head)], { outputs: ["logits"] });
  graph.output("logits", "float", ["batch_size", "kept", vocabSize]);
}
