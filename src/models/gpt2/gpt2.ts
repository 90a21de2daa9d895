import { GraphBuilder } from "../graph-builder.ts";
import type { Graph, Linear, Matrix, NormWeights } from "../graph.ts";
import type { Family } from "../model.ts";
import { attentionScale, parseGpt2Config, type Gpt2Config } from "./config.ts";
import { gpt2Gguf } from "./gguf.ts";

/**
 * GPT-2 (Radford et al. 2019; Hugging Face's GPT2LMHeadModel): LayerNorm before each part, learned positions.
 *
 * Names may begin with "transformer."; files saved by old versions also hold the causal masks (h.N.attn.bias,
 * h.N.attn.masked_bias: buffers, not weights) and a copy of the tied head (lm_head.weight).
 */
export const gpt2: Family = {
  modelTypes: ["gpt2"],
  gguf: gpt2Gguf,
  describe(json) {
    const config = parseGpt2Config(json);
    return {
      family: "gpt2",
      shape: config.shape,
      graph: gpt2Graph(config),
      eosTokenIds: config.eosTokenIds,
      tensorPrefixes: [
        ["", "transformer."],
        ["", ""],
      ],
      isUnused: (tensor) =>
        /^(transformer\.)?h\.\d+\.attn\.(bias|masked_bias)$/.test(tensor) ||
        (config.tieWordEmbeddings && tensor === "lm_head.weight"),
    };
  },
};

function gpt2Graph(config: Gpt2Config): Graph {
  const { nInner, activation } = config;
  const { hiddenSize: nEmbd, numLayers, maxPositions } = config.shape;
  const g = new GraphBuilder();
  const wte = table("wte.weight", config);
  const norm = (name: string) => layerNorm(name, config);
  const linear = (name: string, inputs: number, outputs: number) => conv1d(name, config.matrixLayout, inputs, outputs);
  const x = g.embed(wte, { positions: { tensors: [{ name: "wpe.weight", shape: [maxPositions, nEmbd] }] } });
  for (let i = 0; i < numLayers; i++) {
    const [h, layer] = [`h.${i}`, `layer ${i}`];
    const ln1 = g.norm(`${layer} ln1`, x, norm(`${h}.ln_1`));
    const qkv = g.linear(`${layer} qkv`, ln1, linear(`${h}.attn.c_attn`, nEmbd, 3 * nEmbd));
    const scale = attentionScale(config, i);
    const attended = g.attention(`${layer} attention`, qkv, { layer: i, scale, width: nEmbd });
    g.addLinear(`${layer} proj`, attended, linear(`${h}.attn.c_proj`, nEmbd, nEmbd), x);
    const ln2 = g.norm(`${layer} ln2`, x, norm(`${h}.ln_2`));
    const hidden = g.linear(`${layer} fc`, ln2, linear(`${h}.mlp.c_fc`, nEmbd, nInner), activation);
    g.addLinear(`${layer} fcProj`, hidden, linear(`${h}.mlp.c_proj`, nInner, nEmbd), x);
  }
  const lnF = g.norm("lnF", x, norm("ln_f"), { height: "samples" });
  g.head(config.tieWordEmbeddings ? wte : table("lm_head.weight", config), lnF);
  return g.graph;
}

/** Returns a Conv1D: y = x W + b, with W [in, out] as a rule. */
function conv1d(name: string, layout: Matrix["layout"], inputs: number, outputs: number): Linear {
  const shape = layout === "in-out" ? [inputs, outputs] : [outputs, inputs];
  return {
    matrix: { tensors: [{ name: `${name}.weight`, shape }], inputs, outputs, layout },
    bias: { tensors: [{ name: `${name}.bias`, shape: [outputs] }] },
  };
}

function layerNorm(name: string, { shape: { hiddenSize }, layerNormEpsilon }: Gpt2Config): NormWeights {
  return {
    kind: "layer",
    weight: { tensors: [{ name: `${name}.weight`, shape: [hiddenSize] }] },
    bias: { tensors: [{ name: `${name}.bias`, shape: [hiddenSize] }] },
    epsilon: layerNormEpsilon,
  };
}

/** Returns an embedding or a head: a row for each token. */
function table(name: string, { shape: { vocabSize, hiddenSize } }: Gpt2Config): Matrix {
  const shape = [vocabSize, hiddenSize];
  return { tensors: [{ name, shape }], inputs: hiddenSize, outputs: vocabSize, layout: "out-in" };
}
