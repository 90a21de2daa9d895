import { DECODER_NAMES, decoderConfig, ggufNames } from "../gguf-form.ts";
import type { GgufForm } from "../model.ts";

const names = new Map([
  ...DECODER_NAMES,
  ["post_attention_layernorm", "post_attention_norm"],
  ["pre_feedforward_layernorm", "ffn_norm"],
  ["post_feedforward_layernorm", "post_ffw_norm"],
]);
const nameOf = ggufNames("model.layers", names);

/** Layers of the one model, of 27B, whose scores are scaled by another size than a head's. */
const LAYERS_OF_27B = 62;

/** The file says nothing of the local layers but their window. */
export const gemma3Gguf: GgufForm = {
  architectures: new Map([["gemma3", "gemma3_text"]]),
  weights: () => ({ nameOf, isInterleaved: () => false }),
  config: async (pairs) => {
    const { layers, heads, width } = pairs.sizes();
    const config = decoderConfig(pairs);
    return {
      ...config,
      stored_norm_offset: 0,
      query_pre_attn_scalar: layers === LAYERS_OF_27B ? width / heads : config["head_dim"],
      sliding_window: pairs.size("attention.sliding_window"),
      final_logit_softcapping: pairs.optionalNumber("final_logit_softcapping"),
    };
  },
};
