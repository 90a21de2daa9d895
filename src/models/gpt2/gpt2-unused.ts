import type { Gpt2Config } from "./gpt2-config.ts";

/**
 * Whether a checkpoint's tensor is none of the model's weights: the causal masks that old versions of Hugging Face's code
 * saved with them, and a copy of the tied head.
 */
export function isUnusedByGpt2(tensor: string, config: Pick<Gpt2Config, "tieWordEmbeddings">): boolean {
  return (
    /^(transformer\.)?h\.\d+\.attn\.(bias|masked_bias)$/.test(tensor) ||
    (config.tieWordEmbeddings && tensor === "lm_head.weight")
  );
}
