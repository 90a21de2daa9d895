import { DECODER_NAMES, decoderConfig, ggufNames } from "../gguf-form.ts";
import type { GgufForm } from "../model.ts";

const nameOf = ggufNames(
  "model.layers",
  new Map([
    ...DECODER_NAMES,
    ["post_attention_layernorm", "post_attention_norm"],
    ["linear_attn.in_proj_qkv", "attn_qkv"],
    ["linear_attn.in_proj_z", "attn_gate"],
    ["linear_attn.in_proj_b", "ssm_beta"],
    ["linear_attn.in_proj_a", "ssm_alpha"],
    ["linear_attn.conv1d", "ssm_conv1d"],
    ["linear_attn.norm", "ssm_norm"],
    ["linear_attn.out_proj", "ssm_out"],
  ]),
);

/** Which layers attend follows from their tensors. */
export const qwen35Gguf: GgufForm = {
  architectures: new Map([["qwen35", "qwen3_5_text"]]),
  weights: () => ({
    nameOf: (tensor) =>
      nameOf(tensor).replace("linear_attn.A_log", "ssm_a").replace("linear_attn.dt_bias", "ssm_dt.bias"),
    isInterleaved: () => false,
  }),
  async config(pairs) {
    const { layers } = pairs.sizes();
    const [valueHeads, inner] = [pairs.size("ssm.time_step_rank"), pairs.size("ssm.inner_size")];
    if (inner % valueHeads !== 0) {
      throw pairs.invalid("ssm.inner_size", `(${inner}) must be a multiple of ssm.time_step_rank (${valueHeads})`);
    }
    const typeOf = (i: number) =>
      pairs.hasTensor(`blk.${i}.ssm_conv1d.weight`) ? "linear_attention" : "full_attention";
    return {
      ...(await decoderConfig(pairs)),
      layer_types: Array.from({ length: layers }, (_, i) => typeOf(i)),
      linear_conv_kernel_dim: pairs.size("ssm.conv_kernel"),
      linear_num_key_heads: pairs.size("ssm.group_count"),
      linear_num_value_heads: valueHeads,
      linear_key_head_dim: pairs.size("ssm.state_size"),
      linear_value_head_dim: inner / valueHeads,
      stored_norm_offset: 0,
      delta_form: "gguf",
    };
  },
};
