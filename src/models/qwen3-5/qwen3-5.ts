import { isBesideText, TEXT_PREFIXES } from "../decoder/decoder.ts";
import { GraphBuilder } from "../graph-builder.ts";
import type { Graph, RowLinear, Value } from "../graph.ts";
import { headNorms, joinedLinear, nnLinear, rmsNorm, tokenTable } from "../layers.ts";
import type { Family } from "../model.ts";
import { parseQwen35Config, type Qwen35Config } from "./config.ts";
import { qwen35Gguf } from "./gguf.ts";

/**
 * The text model of Qwen3.5 (Hugging Face's Qwen3_5ForCausalLM): most layers have a gated delta net in place of attention. What
 * a sequence keeps of it is a state of one size, however long the text is.
 */
export const qwen35: Family = {
  modelTypes: ["qwen3_5_text"],
  gguf: qwen35Gguf,
  describe(json) {
    const config = parseQwen35Config(json);
    return {
      family: config.family,
      shape: config.shape,
      graph: qwen35Graph(config),
      // MLX adds their 1 to the norms.
      mlxGraph: qwen35Graph({ ...config, storedNormOffset: 0 }),
      eosTokenIds: config.eosTokenIds,
      tensorPrefixes: TEXT_PREFIXES,
      isUnused: (tensor) => isBesideText(tensor, config),
    };
  },
};

function qwen35Graph({ shape, layers, net, angles, rotated, intermediateSize, ...config }: Qwen35Config): Graph {
  const { hiddenSize, numHeads, numKvHeads, headDim } = shape;
  const { keyHeads, valueHeads, keyDim, valueDim, taps, headOrder, rateForm } = net;
  const [queryWidth, kvWidth, netWidth] = [numHeads * headDim, numKvHeads * headDim, valueHeads * valueDim];
  const ofNorms = { epsilon: config.rmsNormEps, weightOffset: config.storedNormOffset };
  const norm = (name: string) => rmsNorm(name, hiddenSize, ofNorms);
  const g = new GraphBuilder();
  const embedding = tokenTable("model.embed_tokens", shape);
  const x = g.embed(embedding);
  const numOf = { linear_attention: 0, full_attention: 0 };

  const attend = (label: string, attn: string, input: Value): void => {
    const qkv = g.linear(`${label} qkv`, input, gatedQkvLinear(attn, shape, rotated));
    const norms = headNorms(attn, shape, ofNorms, { over: "head", afterRotation: false, rotated });
    g.rotary(`${label} rotary`, qkv, angles, norms);
    const scores = { layer: numOf.full_attention++, scale: config.attentionScale, width: queryWidth };
    const attended = g.attention(`${label} attention`, qkv, scores);
    g.outputGate(`${label} gate`, qkv, queryWidth + 2 * kvWidth, attended);
    g.addLinear(`${label} o`, attended, nnLinear(`${attn}.o_proj`, queryWidth, hiddenSize), x);
  };
  const remember = (label: string, module: string, input: Value): void => {
    const convWidth = 2 * keyHeads * keyDim + netWidth;
    const vector = (name: string) => ({ tensors: [{ name: `${module}.${name}`, shape: [valueHeads] }] });
    const parts = [
      { name: `${module}.in_proj_qkv`, outputs: convWidth },
      { name: `${module}.in_proj_z`, outputs: netWidth },
      { name: `${module}.in_proj_b`, outputs: valueHeads },
      { name: `${module}.in_proj_a`, outputs: valueHeads },
    ];
    const output = g.deltaNet(`${label} delta net`, g.linear(`${label} in`, input, joinedLinear(parts, hiddenSize)), {
      layer: numOf.linear_attention++,
      kernel: { tensors: [{ name: `${module}.conv1d.weight`, shape: [convWidth, 1, taps] }] },
      rate: { weight: vector("A_log"), form: rateForm },
      dtBias: vector("dt_bias"),
      norm: rmsNorm(`${module}.norm`, valueDim, { epsilon: config.rmsNormEps }),
      keyHeads,
      valueHeads,
      keyDim,
      valueDim,
      taps,
      headOrder,
    });
    g.addLinear(`${label} out`, output, nnLinear(`${module}.out_proj`, netWidth, hiddenSize), x);
  };

  layers.forEach((type, i) => {
    const [module, label] = [`model.layers.${i}`, `layer ${i}`];
    const ln1 = g.norm(`${label} ln1`, x, norm(`${module}.input_layernorm`));
    if (type === "linear_attention") remember(label, `${module}.linear_attn`, ln1);
    else attend(label, `${module}.self_attn`, ln1);
    const ln2 = g.norm(`${label} ln2`, x, norm(`${module}.post_attention_layernorm`));
    const into = (name: string) => nnLinear(`${module}.mlp.${name}`, hiddenSize, intermediateSize);
    const inner = g.gate(`${label} mlp`, ln2, into("gate_proj"), into("up_proj"), "silu");
    g.addLinear(`${label} down`, inner, nnLinear(`${module}.mlp.down_proj`, intermediateSize, hiddenSize), x);
  });
  const lnF = g.norm("lnF", x, norm("model.norm"), { height: "samples" });
  g.head(config.tieWordEmbeddings ? embedding : tokenTable("lm_head", shape), lnF);
  return g.graph;
}

/** Returns [queries | keys | values | gates]; q_proj has a head's queries and then its gates, head by head. */
function gatedQkvLinear(attn: string, shape: Qwen35Config["shape"], rotated: number): RowLinear {
  const { numHeads, numKvHeads, headDim, hiddenSize } = shape;
  const numRows = 2 * numHeads * headDim;
  const keys = numKvHeads * headDim;
  const halves = (isGate: boolean) =>
    Array.from({ length: numHeads }, (_, head) => ({
      name: `${attn}.q_proj`,
      outputs: headDim,
      within: { firstRow: (2 * head + (isGate ? 1 : 0)) * headDim, numRows },
      ...(!isGate && { heads: { inHalves: rotated, rows: headDim } }),
    }));
  const modules = [
    ...halves(false),
    { name: `${attn}.k_proj`, outputs: keys, heads: { inHalves: rotated, rows: keys } },
    { name: `${attn}.v_proj`, outputs: keys },
    ...halves(true),
  ];
  return joinedLinear(modules, hiddenSize);
}
