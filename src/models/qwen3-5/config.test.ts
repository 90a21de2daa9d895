import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import type { Checkpoint } from "../../files/checkpoint.ts";
import { GgufFolder } from "../../files/gguf/gguf-folder.ts";
import { openFileList } from "../../files/model-files.ts";
import { openSafetensors } from "../../files/safetensors.ts";
import { byteTokens, ggufBytes, type Typed } from "../../../tests/fakes/gguf-bytes.ts";
import { configOfGguf } from "../config-of-gguf.ts";
import { describeModel } from "../families.ts";
import { openWeights } from "../model-weights.ts";
import { parseQwen35Config } from "./config.ts";

const config = JSON.parse(readFileSync("tests/fixtures/families/qwen35/config.json", "utf8")) as {
  text_config: object;
};
const changed = (changes: object) => ({ ...config, text_config: { ...config.text_config, ...changes } });
const layersOf = (changes: object) => parseQwen35Config({ ...config.text_config, ...changes }).layers;

test("every fourth layer attends, or every nth by full_attention_interval, unless layer_types says otherwise", () => {
  const kinds = (changes: object) => layersOf(changes).map((type) => type === "full_attention");
  expect(kinds({})).toEqual([false, false, false, true, false]);
  expect(kinds({ layer_types: undefined, full_attention_interval: undefined })).toEqual(kinds({}));
  expect(kinds({ layer_types: null, full_attention_interval: 2 })).toEqual([false, true, false, true, false]);
});

test("layers that attend have keys and values in the cache, the others a state", () => {
  const { family, shape } = describeModel(config);
  expect(family).toBe("qwen3_5_text");
  expect(shape.states).toEqual({ numLayers: 4, convWidth: 128, convRows: 3, numHeads: 4, keyDim: 16, valueDim: 16 });
  const all = changed({ layer_types: Array(5).fill("full_attention") });
  expect(describeModel(all).shape.states).toBeUndefined();
});

test("sizes that the config leaves out are those of Hugging Face's class", () => {
  const names = ["conv_kernel_dim", "key_head_dim", "value_head_dim", "num_key_heads", "num_value_heads"];
  const left = Object.fromEntries(names.map((name) => [`linear_${name}`, undefined]));
  const { net, shape } = parseQwen35Config({
    ...config.text_config,
    ...left,
    num_attention_heads: 8,
    num_key_value_heads: undefined,
  });
  expect(net).toMatchObject({ taps: 4, keyDim: 128, valueDim: 128, keyHeads: 16, valueHeads: 32 });
  expect(shape.numKvHeads).toBe(4);
});

test.each([
  [
    "MLX, which has a kernel's taps on its middle axis, keeps norms as they multiply",
    ([c = 0, one = 0, taps = 0]: number[]) => [c, taps, one],
    0,
  ],
  ["Hugging Face keeps them without their 1", (axes: number[]) => axes, 1],
])("%s", async (_, kernelAxes, offset) => {
  const checkpoint = await openSafetensors(
    new Blob([readFileSync("tests/fixtures/families/qwen35/model.safetensors")]),
  );
  const shape = (name: string) =>
    name.includes("conv1d") ? kernelAxes([...checkpoint.shape(name)]) : checkpoint.shape(name);
  const file: Checkpoint = {
    file: checkpoint.file,
    names: () => checkpoint.names(),
    has: (name: string) => checkpoint.has(name),
    tensor: (name: string) => checkpoint.tensor(name),
    shape,
  };
  const { graph } = openWeights(file, (vocabSize) => describeModel(config, vocabSize)).model;
  const offsets = graph.operations.flatMap((one) => (one.type === "norm" ? [one.norm.weightOffset] : []));
  expect(new Set(offsets)).toEqual(new Set([offset]));
});

test.each([
  "mtp.layers.0.self_attn.q_proj.weight",
  "mtp.fc.weight",
  "model.visual.patch_embed.proj.weight",
  "vision_tower.blocks.0.attn.qkv.weight",
])("%s is not downloaded", (tensor) => {
  expect(describeModel(config).isUnused(tensor)).toBe(true);
  expect(describeModel(config).isUnused("model.language_model.layers.0.linear_attn.A_log")).toBe(false);
});

test.each([
  [{ attn_output_gate: false }, "model_unsupported", "attn_output_gate"],
  [{ attention_bias: true }, "model_unsupported", "attention_bias"],
  [{ hidden_act: "gelu" }, "model_unsupported", "hidden_act"],
  [{ layer_types: ["mamba", ...Array<string>(4).fill("full_attention")] }, "model_unsupported", 'layer_types "mamba"'],
  [{ layer_types: Array(5).fill("linear_attention") }, "model_unsupported", "no layer of full_attention"],
  [{ layer_types: ["full_attention"] }, "model_invalid", "layer_types has 1 entries for num_hidden_layers 5"],
  [{ linear_num_value_heads: 3 }, "model_invalid", "linear_num_value_heads (3) must be a multiple"],
  [{ linear_key_head_dim: 18 }, "model_unsupported", "linear_key_head_dim 18, no multiple of 4"],
  [{ linear_key_head_dim: 2 ** 40 }, "model_invalid", "no model has 5 layers of width 48"],
  [{ linear_conv_kernel_dim: 1 }, "model_invalid", "linear_conv_kernel_dim"],
  [{ hidden_size: null }, "model_invalid", "hidden_size"],
  [{ model_type: "qwen3_5_moe_text" }, "model_unsupported", 'model_type "qwen3_5_moe_text"'],
])("%j is refused by name", (changes, code, part) => {
  const error = { code, param: "config.json", message: expect.stringContaining(part) };
  expect(() => describeModel(changed(changes))).toThrow(expect.objectContaining(error));
});

test("the mixture of experts is refused by name", () => {
  const error = { code: "model_unsupported", message: expect.stringContaining('model_type "qwen3_5_moe"') };
  expect(() => describeModel({ ...config, model_type: "qwen3_5_moe" })).toThrow(expect.objectContaining(error));
});

const PAIRS = {
  "general.architecture": ["string", "qwen35"],
  "qwen35.block_count": ["u32", 3],
  "qwen35.nextn_predict_layers": ["u32", 1],
  "qwen35.embedding_length": ["u32", 32],
  "qwen35.feed_forward_length": ["u32", 32],
  "qwen35.context_length": ["u32", 64],
  "qwen35.attention.head_count": ["u32", 2],
  "qwen35.attention.layer_norm_rms_epsilon": ["f32", 1e-5],
  "qwen35.ssm.conv_kernel": ["u32", 4],
  "qwen35.ssm.group_count": ["u32", 2],
  "qwen35.ssm.time_step_rank": ["u32", 4],
  "qwen35.ssm.state_size": ["u32", 16],
  "qwen35.ssm.inner_size": ["u32", 32],
  "tokenizer.ggml.model": ["string", "gpt2"],
  "tokenizer.ggml.pre": ["string", "qwen35"],
  "tokenizer.ggml.tokens": ["array", "string", byteTokens()],
  "tokenizer.ggml.merges": ["array", "string", []],
} as const;

function configOf(pairs: Readonly<Record<string, Typed>>): Promise<unknown> {
  const tensor = { shape: [256, 32], data: new Uint8Array(4 * 256 * 32) };
  const bytes = ggufBytes(pairs, { "token_embd.weight": tensor, "blk.0.ssm_conv1d.weight": tensor });
  const file = new File([bytes], "x.gguf");
  return new GgufFolder(openFileList([file]), "x.gguf", configOfGguf).readJson("config.json");
}

test("a GGUF file's blocks without those that predict further tokens are layers, and their tensors say of which type", async () => {
  expect(await configOf(PAIRS)).toMatchObject({
    model_type: "qwen3_5_text",
    num_hidden_layers: 2,
    layer_types: ["linear_attention", "full_attention"],
    linear_value_head_dim: 8,
  });
});

test.each([
  ["block_count", 1, "qwen35.block_count (1) must be more than nextn_predict_layers"],
  ["ssm.inner_size", 30, "qwen35.ssm.inner_size (30) must be a multiple of ssm.time_step_rank (4)"],
  ["ssm.state_size", undefined, "qwen35.ssm.state_size is missing"],
  ["ssm.group_count", 0, "qwen35.ssm.group_count"],
])("a GGUF file whose %s is %s is refused by name", async (name, value, part) => {
  const others = Object.entries(PAIRS).filter(([key]) => key !== `qwen35.${name}`);
  const own = value === undefined ? {} : { [`qwen35.${name}`]: ["u32", value] as const };
  const error = { code: "model_invalid", param: "x.gguf", message: expect.stringContaining(part) };
  await expect(configOf({ ...Object.fromEntries(others), ...own })).rejects.toThrow(expect.objectContaining(error));
});
