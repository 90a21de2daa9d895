import { GraphBuilder } from "../../src/models/graph-builder.ts";
import type { NormWeights, RowLinear } from "../../src/models/graph.ts";
import type { Family } from "../../src/models/model.ts";

const HIDDEN = 44;
const FEED_FORWARD = 71;
const [HEADS, KV_HEADS, HEAD_DIM] = [6, 2, 10];
const [LAYERS, VOCABULARY, POSITIONS] = [2, 131, 64];

/**
 * A family that nobody has published. It shows that a folder and a line are all that a family takes: rotary positions,
 * grouped queries, RMSNorm, scaled embeddings, an untied head, and attention and a gated feed-forward of an odd width and
 * with biases side by side.
 */
export const inventedFamily: Family = {
  modelTypes: ["invented"],
  gguf: null,
  describe: () => ({
    family: "invented",
    shape: {
      numLayers: LAYERS,
      hiddenSize: HIDDEN,
      numHeads: HEADS,
      numKvHeads: KV_HEADS,
      headDim: HEAD_DIM,
      vocabSize: VOCABULARY,
      maxPositions: POSITIONS,
    },
    graph: inventedGraph(),
    eosTokenIds: [],
    tensorPrefixes: [],
    isUnused: () => false,
  }),
};

function inventedGraph() {
  const g = new GraphBuilder();
  const qkvWidth = (HEADS + 2 * KV_HEADS) * HEAD_DIM;
  const angles = { inverseFrequencies: Array.from({ length: HEAD_DIM / 2 }, (_, i) => 0.3 ** i), scaling: 1 };
  const x = g.embed(linear("embed", HIDDEN, VOCABULARY).matrix, { scale: 1.5 });
  for (let i = 0; i < LAYERS; i++) {
    const normed = g.norm(`layer ${i} norm`, x, rmsNorm(`${i}.norm`));
    const qkv = g.linear(`layer ${i} qkv`, normed, linear(`${i}.qkv`, HIDDEN, qkvWidth));
    const gated = g.gate(
      `layer ${i} gate`,
      normed,
      biased(`${i}.gate`, HIDDEN, FEED_FORWARD),
      biased(`${i}.up`, HIDDEN, FEED_FORWARD),
      "silu",
    );
    g.rotary(`layer ${i} rotary`, qkv, angles);
    const width = HEADS * HEAD_DIM;
    const attended = g.attention(`layer ${i} attention`, qkv, { layer: i, scale: 0.3, width });
    g.addLinear(`layer ${i} proj`, attended, linear(`${i}.proj`, width, HIDDEN), x);
    g.addLinear(`layer ${i} down`, gated, linear(`${i}.down`, FEED_FORWARD, HIDDEN), x);
  }
  g.head(linear("head", HIDDEN, VOCABULARY).matrix, g.norm("norm", x, rmsNorm("norm"), { height: "samples" }));
  return g.graph;
}

function linear(name: string, inputs: number, outputs: number): RowLinear {
  return { matrix: { tensors: [{ name, shape: [outputs, inputs] }], inputs, outputs, layout: "out-in" } };
}

function biased(name: string, inputs: number, outputs: number): RowLinear {
  return { ...linear(name, inputs, outputs), bias: { tensors: [{ name: `${name} bias`, shape: [outputs] }] } };
}

function rmsNorm(name: string): NormWeights {
  const weight = { tensors: [{ name, shape: [HIDDEN] }] };
  return { kind: "rms", weight, epsilon: 1e-5, weightOffset: 1 };
}
