import { GraphBuilder, type Graph } from "../graph.ts";
import { headNorms, nnLinear, qkvLinear, rmsNorm, tokenTable } from "../layers.ts";
import type { Family } from "../model.ts";
import { LLAMA_TYPES, parseLlamaConfig, type LlamaConfig } from "./config.ts";
import { llamaGguf } from "./gguf.ts";

/**
 * Llama (Touvron et al. 2023; Hugging Face's LlamaForCausalLM) and the families that share its graph: SmolLM and TinyLlama
 * call themselves Llama; Mistral has a window, Qwen2 biases of queries, keys and values, Qwen3 norms of queries and keys.
 *
 * Old files also hold the rotary frequencies (buffers, not weights), and some a copy of the tied head.
 */
export const llama: Family = {
  modelTypes: LLAMA_TYPES,
  gguf: llamaGguf,
  describe(json, vocabSize) {
    const config = parseLlamaConfig(json);
    const shape = { ...config.shape, vocabSize: vocabSize ?? config.shape.vocabSize };
    return {
      family: config.family,
      shape,
      graph: llamaGraph({ ...config, shape }),
      eosTokenIds: config.eosTokenIds,
      tensorPrefixes: [""],
      isUnused: (tensor) =>
        tensor.endsWith(".rotary_emb.inv_freq") || (config.tieWordEmbeddings && tensor === "lm_head.weight"),
    };
  },
};

function llamaGraph(config: LlamaConfig): Graph {
  const { shape, intermediateSize, hasMlpBias, hasOutputBias, hasQkvBias } = config;
  const { hiddenSize, numHeads, headDim } = shape;
  const queryWidth = numHeads * headDim;
  const epsilon = config.rmsNormEps;
  const norm = (name: string) => rmsNorm(name, hiddenSize, { epsilon });
  const g = new GraphBuilder();
  const embedding = tokenTable("model.embed_tokens", shape);
  const x = g.embed(embedding);
  config.windows.forEach((window, i) => {
    const [module, layer] = [`model.layers.${i}`, `layer ${i}`];
    const ln1 = g.norm(`${layer} ln1`, x, norm(`${module}.input_layernorm`));
    const attn = `${module}.self_attn`;
    const qkv = g.linear(`${layer} qkv`, ln1, qkvLinear(attn, shape, { bias: hasQkvBias }));
    g.rotary(`${layer} rotary`, qkv, config.angles, config.hasHeadNorms ? headNorms(attn, shape, { epsilon }) : null);
    const scale = 1 / Math.sqrt(headDim);
    const attended = g.attention(`${layer} attention`, qkv, { layer: i, scale, window, width: queryWidth });
    const o = nnLinear(`${attn}.o_proj`, queryWidth, hiddenSize, { bias: hasOutputBias });
    g.addLinear(`${layer} o`, attended, o, x);
    const ln2 = g.norm(`${layer} ln2`, x, norm(`${module}.post_attention_layernorm`));
    const into = (name: string) =>
      nnLinear(`${module}.mlp.${name}`, hiddenSize, intermediateSize, { bias: hasMlpBias });
    const gated = g.gate(`${layer} mlp`, ln2, into("gate_proj"), into("up_proj"), config.activation);
    const down = nnLinear(`${module}.mlp.down_proj`, intermediateSize, hiddenSize, { bias: hasMlpBias });
    g.addLinear(`${layer} down`, gated, down, x);
  });
  const lnF = g.norm("lnF", x, norm("model.norm"), { height: "samples" });
  g.head(config.tieWordEmbeddings ? embedding : tokenTable("lm_head", shape), lnF);
  return g.graph;
}
