import { DECODER_NAMES, decoderConfig, ggufNames } from "../gguf-form.ts";
import type { GgufForm } from "../model.ts";

const names = new Map([
  ...DECODER_NAMES,
  ["model.embedding_norm", "token_embd_norm"],
  ["operator_norm", "attn_norm"],
  ["self_attn.out_proj", "attn_output"],
  ["self_attn.q_layernorm", "attn_q_norm"],
  ["self_attn.k_layernorm", "attn_k_norm"],
  ["conv.in_proj", "shortconv.in_proj"],
  ["conv.conv", "shortconv.conv"],
  ["conv.out_proj", "shortconv.out_proj"],
  ["feed_forward.w1", "ffn_gate"],
  ["feed_forward.w3", "ffn_up"],
  ["feed_forward.w2", "ffn_down"],
]);
const nameOf = ggufNames("model.layers", names);

/** Which layers attend follows from their tensors. */
export const lfm2Gguf: GgufForm = {
  architectures: new Map([["lfm2", "lfm2"]]),
  weights: () => ({ nameOf, isInterleaved: () => false }),
  config: async (pairs) => {
    const { rms_norm_eps: norm_eps, ...config } = await decoderConfig(pairs);
    const { layers } = pairs.sizes();
    const typeOf = (i: number) => (pairs.hasTensor(`blk.${i}.shortconv.conv.weight`) ? "conv" : "full_attention");
    return {
      ...config,
      norm_eps,
      conv_L_cache: pairs.size("shortconv.l_cache"),
      block_auto_adjust_ff_dim: false,
      layer_types: Array.from({ length: layers }, (_, i) => typeOf(i)),
    };
  },
};
