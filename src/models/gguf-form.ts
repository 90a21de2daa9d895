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
  ["post_attention_layernorm", "ffn_norm"],
  ["mlp.gate_proj", "ffn_gate"],
  ["mlp.up_proj", "ffn_up"],
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

/** Returns the common fields of Llama-type decoders' config.json. */
export function decoderConfig(pairs: GgufPairs): Record<string, unknown> {
  const { layers, heads, kvHeads, width, inner, context, vocabulary, tied } = pairs.sizes();
  const headDim = pairs.optionalSize("attention.key_length") ?? width / heads;
  const valueDim = pairs.optionalSize("attention.value_length") ?? headDim;
  if (valueDim !== headDim) throw pairs.unsupported("attention.value_length", "values as long as no key");
  const turned = pairs.optionalSize("rope.dimension_count") ?? headDim;
  if (turned !== headDim) throw pairs.unsupported("rope.dimension_count", "positions in a part of each head");
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
    rope_theta: pairs.optionalNumber("rope.freq_base"),
    rope_scaling: ropeScaling(pairs),
  };
}

function ropeScaling(pairs: GgufPairs): Record<string, unknown> | null {
  const factor = pairs.optionalNumber("rope.scaling.factor") ?? pairs.optionalNumber("rope.scale_linear"); // its old name
  const type = pairs.string("rope.scaling.type") ?? (factor === null ? "none" : "linear");
  if (type === "none") return null;
  return {
    rope_type: type,
    factor,
    original_max_position_embeddings: pairs.optionalSize("rope.scaling.original_context_length"),
    attention_factor: pairs.optionalNumber("rope.scaling.attn_factor"),
    beta_fast: pairs.optionalNumber("rope.scaling.yarn_beta_fast"),
    beta_slow: pairs.optionalNumber("rope.scaling.yarn_beta_slow"),
  };
}
