import { GraphBuilder } from "../graph-builder.ts";
import type { Graph, Value } from "../graph.ts";
import { gateUpLinears, headNorms, nnLinear, qkvLinear, rmsNorm, tokenTable } from "../layers.ts";
import type { Family } from "../model.ts";
import { parseDecoderConfig, type DecoderConfig } from "./config.ts";
import { DECODERS } from "./differences.ts";
import { decoderGguf } from "./gguf.ts";

/**
 * Llama (Touvron et al. 2023; Hugging Face's LlamaForCausalLM), and the families that differ from it as their rows in
 * differences.ts say. SmolLM and TinyLlama call themselves Llama.
 *
 * Old files also hold the rotary frequencies (buffers, not weights), and some a copy of the tied head. Multimodal models
 * have further tensors: none begins as those of the text model do.
 */
export const decoder: Family = {
  modelTypes: [...DECODERS.keys()],
  gguf: decoderGguf,
  describe(json) {
    const config = parseDecoderConfig(json);
    return {
      family: config.family,
      shape: config.shape,
      graph: decoderGraph(config),
      eosTokenIds: config.eosTokenIds,
      tensorPrefixes: TEXT_PREFIXES,
      isUnused: (tensor) => isBesideText(tensor, config),
    };
  },
};

/** Where a checkpoint has the text model of a multimodal one. */
export const TEXT_PREFIXES = [
  ["", ""],
  ["", "language_model."],
  ["model.", "model.language_model."],
] as const;

/** Returns whether a checkpoint's tensor is none of the text model's weights: an old buffer, a tied head, or what sees. */
export function isBesideText(tensor: string, { tieWordEmbeddings }: Pick<DecoderConfig, "tieWordEmbeddings">): boolean {
  return (
    tensor.endsWith(".rotary_emb.inv_freq") ||
    (tieWordEmbeddings && /(^|\.)lm_head\.weight$/.test(tensor)) ||
    !/^(lm_head|model\.(embed_tokens|layers|norm|language_model)|language_model)\./.test(tensor)
  );
}

const MLP = { gate: "mlp.gate_proj", up: "mlp.up_proj", down: "mlp.down_proj" };

function decoderGraph(config: DecoderConfig): Graph {
  const { shape, intermediateSize, differences, residualScale, activation, hasMlpBias, rotated } = config;
  const { hiddenSize, numHeads, headDim } = shape;
  const { norms: place = "before", mlp = MLP, headNorms: normed } = differences;
  const queryWidth = numHeads * headDim;
  // Each part adds residualScale times its output. Instead, the residual stream is kept divided by it: norms take that
  // factor out again, if their epsilon is divided by its square.
  const epsilon = config.rmsNormEps / residualScale ** 2;
  const weightOffset = config.storedNormOffset;
  const norm = (name: string) => rmsNorm(name, hiddenSize, { epsilon, weightOffset });
  const ofHeads = { epsilon: config.rmsNormEps, weightOffset };
  // Of layers that normalise their queries and keys, and don't turn them.
  const unturned = { inverseFrequencies: Array<number>(headDim / 2).fill(0), scaling: 1 };
  const g = new GraphBuilder();
  const embedding = tokenTable("model.embed_tokens", shape);
  const x = g.embed(embedding, { scale: config.embeddingScale / residualScale });
  config.layers.forEach(({ window, angles }, i) => {
    const [module, layer] = [`model.layers.${i}`, `layer ${i}`];
    const before = (label: string, name: string) =>
      place === "after" ? x : g.norm(`${layer} ${label}`, x, norm(`${module}.${name}`));
    const add = (label: string, input: Value, linear: ReturnType<typeof nnLinear>, ln: string, name: string) => {
      if (place === "before") return g.addLinear(`${layer} ${label}`, input, linear, x);
      g.addNorm(`${layer} ${ln}`, g.linear(`${layer} ${label}`, input, linear), norm(`${module}.${name}`), x);
    };
    const attn = `${module}.self_attn`;
    const ln1 = before("ln1", "input_layernorm");
    const bias = config.hasQkvBias;
    const qkv = g.linear(`${layer} qkv`, ln1, qkvLinear(attn, shape, { bias, rotated, fused: differences.qkv }));
    const norms = normed
      ? headNorms(attn, shape, ofHeads, {
          over: normed,
          afterRotation: differences.normAfterRotation === true,
          names: differences.headNormNames,
        })
      : null;
    if (angles || norms) g.rotary(`${layer} rotary`, qkv, angles ?? unturned, norms);
    const scores = { layer: i, scale: config.attentionScale, window, cap: config.attentionCap };
    const attended = g.attention(`${layer} attention`, qkv, { ...scores, width: queryWidth });
    const o = nnLinear(`${attn}.o_proj`, queryWidth, hiddenSize, { bias: config.hasOutputBias });
    add("o", attended, o, "ln2", "post_attention_layernorm");
    const ln = place === "both" ? "ln3" : "ln2";
    const fedName = place === "both" ? "pre_feedforward_layernorm" : "post_attention_layernorm";
    const fed = before(ln, fedName);
    const [gate, up] = gateUpLinears(module, mlp, hiddenSize, intermediateSize, { bias: hasMlpBias });
    const inner = gate
      ? g.gate(`${layer} mlp`, fed, gate, up, activation)
      : g.linear(`${layer} mlp`, fed, up, activation);
    const down = nnLinear(`${module}.${mlp.down}`, intermediateSize, hiddenSize, { bias: hasMlpBias });
    add("down", inner, down, "ln4", "post_feedforward_layernorm");
  });
  const weightFactor = config.logitScale;
  const last = rmsNorm("model.norm", hiddenSize, { epsilon, weightOffset, weightFactor });
  const lnF = g.norm("lnF", x, last, { height: "samples" });
  g.head(config.tieWordEmbeddings ? embedding : tokenTable("lm_head", shape), lnF, config.logitCap);
  return g.graph;
}
