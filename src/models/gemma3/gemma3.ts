import { GraphBuilder, type Graph } from "../graph.ts";
import { headNorms, nnLinear, qkvLinear, rmsNorm, tokenTable } from "../layers.ts";
import type { Family } from "../model.ts";
import { gemma3Gguf } from "./gguf.ts";
import { parseGemma3Config, type Gemma3Config } from "./config.ts";

/**
 * Gemma 3, the text model (Gemma team 2025; Hugging Face's Gemma3ForCausalLM). A layer has four norms, whose stored weights
 * are one too small (but not in GGUF files). Most layers see only a window, and have rotary positions of their own.
 */
export const gemma3: Family = {
  modelTypes: ["gemma3_text"],
  gguf: gemma3Gguf,
  describe(json, vocabSize) {
    const config = parseGemma3Config(json);
    const shape = { ...config.shape, vocabSize: vocabSize ?? config.shape.vocabSize };
    return {
      family: "gemma3_text",
      shape,
      graph: gemma3Graph({ ...config, shape }),
      eosTokenIds: config.eosTokenIds,
      tensorPrefixes: [""],
      isUnused: (tensor) => config.tieWordEmbeddings && tensor === "lm_head.weight",
    };
  },
};

function gemma3Graph(config: Gemma3Config): Graph {
  const { shape, intermediateSize, attentionScale: scale, hasAttentionBias: bias } = config;
  const { hiddenSize, numHeads, headDim } = shape;
  const queryWidth = numHeads * headDim;
  const weights = { epsilon: config.rmsNormEps, weightOffset: config.storedNormOffset };
  const norm = (name: string) => rmsNorm(name, hiddenSize, weights);
  const g = new GraphBuilder();
  const embedding = tokenTable("model.embed_tokens", shape);
  const x = g.embed(embedding, { scale: Math.sqrt(hiddenSize) });
  config.windows.forEach((window, i) => {
    const [module, layer] = [`model.layers.${i}`, `layer ${i}`];
    const ln1 = g.norm(`${layer} ln1`, x, norm(`${module}.input_layernorm`));
    const attn = `${module}.self_attn`;
    const qkv = g.linear(`${layer} qkv`, ln1, qkvLinear(attn, shape, { bias }));
    const angles = window === null ? config.globalAngles : config.localAngles;
    g.rotary(`${layer} rotary`, qkv, angles, headNorms(attn, shape, weights));
    const attended = g.attention(`${layer} attention`, qkv, { layer: i, scale, window, width: queryWidth });
    const o = g.linear(`${layer} o`, attended, nnLinear(`${attn}.o_proj`, queryWidth, hiddenSize, { bias }));
    g.addNorm(`${layer} ln2`, o, norm(`${module}.post_attention_layernorm`), x);
    const ln3 = g.norm(`${layer} ln3`, x, norm(`${module}.pre_feedforward_layernorm`));
    const into = (name: string) => nnLinear(`${module}.mlp.${name}`, hiddenSize, intermediateSize);
    const gated = g.gate(`${layer} mlp`, ln3, into("gate_proj"), into("up_proj"), config.activation);
    const down = nnLinear(`${module}.mlp.down_proj`, intermediateSize, hiddenSize);
    const fed = g.linear(`${layer} down`, gated, down);
    g.addNorm(`${layer} ln4`, fed, norm(`${module}.post_feedforward_layernorm`), x);
  });
  const lnF = g.norm("lnF", x, norm("model.norm"), { height: "samples" });
  g.head(config.tieWordEmbeddings ? embedding : tokenTable("lm_head", shape), lnF);
  return g.graph;
}
