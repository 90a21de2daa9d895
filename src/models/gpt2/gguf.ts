import { ggufNames } from "../gguf-form.ts";
import type { GgufForm } from "../model.ts";

const names = new Map([
  ["wte", "token_embd"],
  ["wpe", "position_embd"],
  ["ln_f", "output_norm"],
  ["lm_head", "output"],
  ["ln_1", "attn_norm"],
  ["attn.c_attn", "attn_qkv"],
  ["attn.c_proj", "attn_output"],
  ["ln_2", "ffn_norm"],
  ["mlp.c_fc", "ffn_up"],
  ["mlp.c_proj", "ffn_down"],
]);
const nameOf = ggufNames("h", names);

export const gpt2Gguf: GgufForm = {
  architectures: new Map([["gpt2", "gpt2"]]),
  weights: () => ({ nameOf, isInterleaved: () => false }),
  config: async (pairs) => {
    const { layers, heads, width, inner, context, vocabulary, tied } = pairs.sizes();
    return {
      n_layer: layers,
      n_head: heads,
      n_embd: width,
      n_inner: inner,
      n_positions: context,
      vocab_size: vocabulary,
      tie_word_embeddings: tied,
      layer_norm_epsilon: pairs.number("attention.layer_norm_epsilon"),
      conv1d_layout: "out-in",
    };
  },
};
