import { DECODER_NAMES, decoderConfig, ggufNames } from "../gguf-form.ts";
import type { GgufForm } from "../model.ts";

/** Divisors of the rotary frequencies: Llama 3's scaling, worked out. */
const DIVISORS = "rope_freqs.weight";

const nameOf = ggufNames("model.layers", DECODER_NAMES);

/** Of these architectures only "llama" has its queries and keys interleaved. It is Mistral's, too. */
export const llamaGguf: GgufForm = {
  architectures: new Map([
    ["llama", "llama"],
    ["qwen2", "qwen2"],
    ["qwen3", "qwen3"],
  ]),
  weights: (architecture) => ({
    nameOf,
    isInterleaved: (tensor) => architecture === "llama" && /\.[qk]_proj\.\w+$/.test(tensor),
  }),
  async config(pairs) {
    const config = decoderConfig(pairs);
    const divisors = pairs.has(DIVISORS)
      ? Array.from(await pairs.vector(DIVISORS, Number(config["head_dim"]) / 2))
      : null;
    return {
      ...config,
      attention_bias: pairs.has("blk.0.attn_output.bias"),
      mlp_bias: pairs.has("blk.0.ffn_up.bias"),
      ...(divisors && { rope_scaling: { rope_type: "divisors", divisors } }),
    };
  },
};
