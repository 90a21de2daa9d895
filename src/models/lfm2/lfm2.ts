import { GraphBuilder } from "../graph-builder.ts";
import type { Graph, Value } from "../graph.ts";
import { headNorms, nnLinear, qkvLinear, rmsNorm, tokenTable } from "../layers.ts";
import type { Family } from "../model.ts";
import { parseLfm2Config, type Lfm2Config } from "./config.ts";
import { lfm2Gguf } from "./gguf.ts";

/**
 * LFM2 and LFM2.5 (Liquid AI; Hugging Face's Lfm2ForCausalLM): most layers have a gated short convolution in place of
 * attention. What a sequence keeps of it lies in its cache blocks, as keys and values do.
 */
export const lfm2: Family = {
  modelTypes: ["lfm2"],
  gguf: lfm2Gguf,
  describe(json) {
    const config = parseLfm2Config(json);
    return {
      family: "lfm2",
      shape: config.shape,
      graph: lfm2Graph(config),
      eosTokenIds: config.eosTokenIds,
      tensorPrefixes: [["", ""]],
      isUnused: (tensor) => config.tieWordEmbeddings && tensor === "lm_head.weight",
    };
  },
};

function lfm2Graph({ shape, layers, taps, intermediateSize, angles, rmsNormEps, ...config }: Lfm2Config): Graph {
  const { hiddenSize, numHeads, headDim } = shape;
  const [queryWidth, epsilon] = [numHeads * headDim, rmsNormEps];
  const norm = (name: string) => rmsNorm(name, hiddenSize, { epsilon });
  const g = new GraphBuilder();
  const embedding = tokenTable("model.embed_tokens", shape);
  const x = g.embed(embedding);
  const numOf = { conv: 0, full_attention: 0 };

  const attend = (label: string, attn: string, input: Value): void => {
    const qkv = g.linear(`${label} qkv`, input, qkvLinear(attn, shape));
    const names = ["q_layernorm", "k_layernorm"] as const;
    const norms = headNorms(attn, shape, { epsilon }, { over: "head", afterRotation: false, names });
    g.rotary(`${label} rotary`, qkv, angles, norms);
    const scores = { layer: numOf.full_attention++, scale: 1 / Math.sqrt(headDim), width: queryWidth };
    const attended = g.attention(`${label} attention`, qkv, scores);
    g.addLinear(`${label} o`, attended, nnLinear(`${attn}.out_proj`, queryWidth, hiddenSize), x);
  };
  const convolve = (label: string, conv: string, input: Value): void => {
    const gated = g.linear(`${label} in`, input, nnLinear(`${conv}.in_proj`, hiddenSize, 3 * hiddenSize));
    const kernel = { tensors: [{ name: `${conv}.conv.weight`, shape: [hiddenSize, 1, taps] }] };
    const sizes = { layer: numOf.conv++, kernel, width: hiddenSize, taps };
    const convolved = g.shortConv(`${label} convolution`, gated, sizes);
    g.addLinear(`${label} out`, convolved, nnLinear(`${conv}.out_proj`, hiddenSize, hiddenSize), x);
  };

  layers.forEach((type, i) => {
    const [module, label] = [`model.layers.${i}`, `layer ${i}`];
    const ln1 = g.norm(`${label} ln1`, x, norm(`${module}.operator_norm`));
    if (type === "conv") convolve(label, `${module}.conv`, ln1);
    else attend(label, `${module}.self_attn`, ln1);
    const ln2 = g.norm(`${label} ln2`, x, norm(`${module}.ffn_norm`));
    const into = (name: string) => nnLinear(`${module}.feed_forward.${name}`, hiddenSize, intermediateSize);
    const inner = g.gate(`${label} mlp`, ln2, into("w1"), into("w3"), "silu");
    g.addLinear(`${label} down`, inner, nnLinear(`${module}.feed_forward.w2`, intermediateSize, hiddenSize), x);
  });
  const lnF = g.norm("lnF", x, norm("model.embedding_norm"), { height: "samples" });
  g.head(config.tieWordEmbeddings ? embedding : tokenTable("lm_head", shape), lnF);
  return g.graph;
}
