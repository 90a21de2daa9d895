import { DECODER_NAMES, decoderConfig, ggufNames } from "../gguf-form.ts";
import type { GgufForm } from "../model.ts";
import { DECODERS, type Differences } from "./differences.ts";

/** A GGUF file says nothing of what is the same in all models of an architecture. */
export const decoderGguf: GgufForm = {
  architectures: new Map(
    [...DECODERS].flatMap(([modelType, { gguf }]) => (gguf ? [[gguf.architecture, modelType] as const] : [])),
  ),
  weights: (architecture) => {
    const differences = differencesOf(architecture);
    const names = new Map([...DECODER_NAMES, ...normNames(differences)]);
    return {
      nameOf: ggufNames("model.layers", names),
      isInterleaved: (tensor) => differences.gguf?.isInterleaved === true && /\.[qk]_proj\.\w+$/.test(tensor),
    };
  },
  async config(pairs) {
    const { gguf, normOffset } = differencesOf(pairs.architecture);
    const { layers, heads, width } = pairs.sizes();
    const config = await decoderConfig(pairs, gguf?.window);
    return {
      ...config,
      ...(normOffset !== undefined && {
        stored_norm_offset: 0,
        query_pre_attn_scalar: layers === gguf?.layersOf27B ? width / heads : config["head_dim"],
      }),
    };
  },
};

function differencesOf(architecture: string): Differences {
  const of = [...DECODERS.values()].find(({ gguf }) => gguf?.architecture === architecture);
  return of ?? {};
}

/** "ffn_norm" is what comes before the feed-forward part, whatever Hugging Face calls it. */
function normNames({ norms = "before" }: Differences): readonly (readonly [string, string])[] {
  if (norms === "before") return [["post_attention_layernorm", "ffn_norm"]];
  return [
    ["post_attention_layernorm", "post_attention_norm"],
    ["pre_feedforward_layernorm", "ffn_norm"],
    ["post_feedforward_layernorm", "post_ffw_norm"],
  ];
}
