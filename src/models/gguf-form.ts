// What the GGUF forms of the families have in common.

import type { GgufPairs } from "./gguf-pairs.ts";

/** Modules of Llama-type decoders, and their names in GGUF files. */
export const DECODER_NAMES: ReadonlyMap<string, string> = new Map([
  ["model.embed_tokens", "token_embd"],
  ["model.norm", "output_norm"],
  ["lm_head", "output"],
  ["input_layernorm", "attn_norm"],
  ["self_attn.q_proj", "attn_q"],
  ["self_attn.k_proj", "attn_k"],
  ["self_attn.v_proj", "attn_v"],
  ["self_attn.o_proj", "attn_output"],
  ["self_attn.q_norm", "attn_q_norm"],
  ["self_attn.k_norm", "attn_k_norm"],
  ["self_attn.query_layernorm", "attn_q_norm"],
  ["self_attn.key_layernorm", "attn_k_norm"],
  ["self_attn.qkv_proj", "attn_qkv"],
  ["mlp.gate_proj", "ffn_gate"],
  ["mlp.up_proj", "ffn_up"],
  ["mlp.gate_up_proj", "ffn_up"],
  ["mlp.down_proj", "ffn_down"],
]);

/** Returns a function from the graph's names of tensors, "LAYERS.3.MODULE.weight", to a file's, "blk.3.NAME.weight". */
export function ggufNames(layers: string, names: ReadonlyMap<string, string>): (tensor: string) => string {
  return (tensor) => {
    const end = tensor.lastIndexOf(".");
    const [path, kind] = [tensor.slice(0, end), tensor.slice(end)];
    const [, layer, module = path] = path.startsWith(`${layers}.`)
      ? (/^(\d+)\.(.*)$/.exec(path.slice(layers.length + 1)) ?? [])
      : [];
    const name = names.get(module) ?? module;
    return `${layer === undefined ? "" : `blk.${layer}.`}${name}${kind}`;
  };
}

/** Divisors of the rotary frequencies: Llama 3's scaling, worked out. */
const DIVISORS = "rope_freqs.weight";
/** LongRoPE's. */
const [LONG_DIVISORS, SHORT_DIVISORS] = ["rope_factors_long.weight", "rope_factors_short.weight"];

/** Pairs with the fields of config.json that they stand for. */
const NUMBERS = [
  ["embedding_scale", "embedding_multiplier"],
  ["attention.scale", "attention_multiplier"],
  ["residual_scale", "residual_multiplier"],
  ["logit_scale", "logits_scaling"],
  ["attn_logit_softcapping", "attn_logit_softcapping"],
  ["final_logit_softcapping", "final_logit_softcapping"],
  ["rope.freq_base_swa", "rope_local_base_freq"],
] as const;

/**
 * Returns the common fields of Llama-type decoders' config.json.
 * @param window of a file that has none [no window]
 */
export async function decoderConfig(pairs: GgufPairs, window = 0): Promise<Record<string, unknown>> {
  const { layers, heads, kvHeads, width, inner, context, vocabulary, tied } = pairs.sizes();
  const headDim = pairs.positiveInteger(["attention.key_length"], width / heads);
  const valueDim = pairs.positiveInteger(["attention.value_length"], headDim);
  if (valueDim !== headDim) throw pairs.unsupported("attention.value_length", "values as long as no key");
  const turned = pairs.positiveInteger(["rope.dimension_count"], headDim);
  const others = NUMBERS.flatMap(([name, field]) => {
    const value = pairs.positiveNumber(name, null);
    return value === null ? [] : [[field, value] as const];
  });
  return {
    num_hidden_layers: layers,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    head_dim: headDim,
    hidden_size: width,
    intermediate_size: inner,
    max_position_embeddings: context,
    vocab_size: vocabulary,
    tie_word_embeddings: tied,
    rms_norm_eps: pairs.number("attention.layer_norm_rms_epsilon"),
    attention_bias: pairs.hasTensor("blk.0.attn_q.bias") || pairs.hasTensor("blk.0.attn_qkv.bias"),
    attention_out_bias: pairs.hasTensor("blk.0.attn_output.bias"),
    mlp_bias: pairs.hasTensor("blk.0.ffn_up.bias"),
    rope_theta: pairs.positiveNumber("rope.freq_base", 10_000),
    rope_scaling: await ropeScaling(pairs, turned),
    ...(!pairs.boolean("rope.scaling.finetuned", true) && { position_embedding_type: "none" }),
    ...(turned !== headDim && { partial_rotary_factor: turned / headDim }),
    ...Object.fromEntries(others),
    ...windows(pairs, layers, window),
  };
}

/**
 * A window of 0 is none. The pattern says which blocks have it: a mark for each, or N, where every Nth has none; all have it
 * where N is 0.
 */
function windows(pairs: GgufPairs, layers: number, byDefault: number): Record<string, unknown> {
  const name = "attention.sliding_window_pattern";
  const typesOf = (slides: readonly boolean[]) => slides.map((it) => (it ? "sliding_attention" : "full_attention"));
  const eachLayer = (slides: (layer: number) => boolean) =>
    typesOf(Array.from({ length: layers }, (_, i) => slides(i)));
  const window = pairs.nonNegativeInteger("attention.sliding_window", byDefault);
  if (window === 0) return { sliding_window: null, layer_types: eachLayer(() => false) };
  const marks = pairs.list(name);
  if (marks !== null) {
    const ofLayers = marks.length === pairs.size("block_count") ? marks.slice(0, layers) : marks;
    return { sliding_window: window, layer_types: typesOf(ofLayers.map((mark) => mark === true || mark === 1)) };
  }
  const n = pairs.nonNegativeInteger(name, null);
  return { sliding_window: window, ...(n !== null && { layer_types: eachLayer((layer) => (layer + 1) % n !== 0) }) };
}

async function ropeScaling(pairs: GgufPairs, turned: number): Promise<Record<string, unknown>> {
  const factors = async (name: string) => Array.from(await pairs.vector(name, turned / 2));
  if (pairs.hasTensor(DIVISORS)) return { rope_type: "divisors", divisors: await factors(DIVISORS) };
  const original = pairs.positiveInteger(["rope.scaling.original_context_length"], null);
  const attentionFactor = pairs.positiveNumber("rope.scaling.attn_factor", null);
  if (pairs.hasTensor(LONG_DIVISORS)) {
    return {
      rope_type: "longrope",
      long_factor: await factors(LONG_DIVISORS),
      short_factor: await factors(SHORT_DIVISORS),
      original_max_position_embeddings: original,
      attention_factor: attentionFactor,
    };
  }
  const factor = pairs.positiveNumber("rope.scaling.factor", null) ?? pairs.positiveNumber("rope.scale_linear", null); // the old name
  const type = pairs.string("rope.scaling.type", factor === null ? "none" : "linear");
  return {
    rope_type: type === "none" ? "default" : type,
    factor,
    original_max_position_embeddings: original,
    attention_factor: attentionFactor,
    mscale: 1,
    mscale_all_dim: pairs.nonNegativeNumber("rope.scaling.yarn_log_multiplier", null),
    beta_fast: pairs.positiveNumber("rope.scaling.yarn_beta_fast", null),
    beta_slow: pairs.positiveNumber("rope.scaling.yarn_beta_slow", null),
    llama_4_scaling_beta: pairs.nonNegativeNumber("attention.temperature_scale", null),
  };
}
