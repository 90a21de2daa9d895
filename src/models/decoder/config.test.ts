import { expect, test } from "vitest";
import { readFixture } from "../../../tests/models/fixtures.ts";
import { describeModel } from "../families.ts";
import { parseDecoderConfig } from "./config.ts";

const { config } = await readFixture("llama-tiny/tied");

const biasesOf = (overrides: Record<string, unknown>) => {
  const { operations } = describeModel({ ...config, ...overrides }).graph;
  const linears = operations.flatMap((operation) =>
    operation.type === "linear" ? [operation.linear] : operation.type === "gate" ? [operation.gate, operation.up] : [],
  );
  return linears.flatMap(({ bias }) => (bias ? bias.tensors.map(({ name }) => name) : []));
};

test("a config without head_dim divides its width among its heads", () => {
  expect(parseDecoderConfig({ ...config, head_dim: null }).shape.headDim).toBe(16);
});

test("Qwen3's heads are 128 wide where the config does not say", () => {
  expect(parseDecoderConfig({ ...config, model_type: "qwen3", head_dim: undefined }).shape.headDim).toBe(128);
});

test.each([
  ["llama", 64, 64],
  ["mistral", 8, 64],
  ["qwen2", 32, 64],
  ["qwen3", 32, 64],
  ["smollm3", 4, 64],
  ["ernie4_5", 2, 64],
  ["exaone4", 32, 64],
  ["ministral3", 8, 64],
])("%s without num_key_value_heads has %i, and with null one for each query head", (model_type, absent, none) => {
  const headsOf = (num_key_value_heads: unknown) =>
    parseDecoderConfig({ ...config, model_type, num_attention_heads: 64, head_dim: 8, num_key_value_heads }).shape
      .numKvHeads;
  expect([headsOf(undefined), headsOf(null)]).toEqual([absent, none]);
});

test("each family has its biases", () => {
  const one = { num_hidden_layers: 1 };
  const attention = ["q_proj", "k_proj", "v_proj"].map((name) => `model.layers.0.self_attn.${name}.bias`);
  const output = "model.layers.0.self_attn.o_proj.bias";
  expect(biasesOf(one)).toEqual([]);
  expect(biasesOf({ ...one, model_type: "qwen2" })).toEqual(attention);
  expect(biasesOf({ ...one, attention_bias: true })).toEqual([...attention, output]);
  expect(biasesOf({ ...one, attention_bias: true, attention_out_bias: false })).toEqual(attention);
  expect(biasesOf({ ...one, mlp_bias: true })).toEqual(
    ["gate_proj", "up_proj", "down_proj"].map((name) => `model.layers.0.mlp.${name}.bias`),
  );
});

test.each([
  [{}, [null, null]],
  [{ sliding_window: 8 }, [null, null]],
  [{ model_type: "mistral", sliding_window: 8 }, [8, 8]],
  [{ model_type: "mistral", sliding_window: null }, [null, null]],
  [{ model_type: "mistral" }, [4096, 4096]],
  [{ model_type: "qwen2", sliding_window: 8, max_window_layers: 1 }, [null, null]],
  [{ model_type: "qwen2", sliding_window: 8, max_window_layers: 1, use_sliding_window: true }, [null, 8]],
  [
    {
      model_type: "qwen3",
      sliding_window: 8,
      use_sliding_window: true,
      layer_types: ["sliding_attention", "full_attention"],
    },
    [8, null],
  ],
])("%j has the windows %j", (overrides, windows) => {
  expect(parseDecoderConfig({ ...config, ...overrides }).layers.map(({ window }) => window)).toEqual(windows);
});

test("end-of-text ids are one, several or none", () => {
  const idsOf = (eos_token_id: unknown) => parseDecoderConfig({ ...config, eos_token_id }).eosTokenIds;
  expect([idsOf(2), idsOf([128001, 128009]), idsOf(null)]).toEqual([[2], [128001, 128009], []]);
});

test.each([
  ["lm_head.weight", true],
  ["model.layers.0.self_attn.rotary_emb.inv_freq", true],
  ["model.norm.weight", false],
])("a tied head's copy and old buffers are not read: %s", (tensor, isUnused) => {
  expect(describeModel(config).isUnused(tensor)).toBe(isUnused);
});

test("an untied head is read", () => {
  expect(describeModel({ ...config, tie_word_embeddings: false }).isUnused("lm_head.weight")).toBe(false);
});

test.each([
  [{ hidden_act: "relu" }, 'hidden_act "relu"'],
  [{ quantization_config: { bits: 4 } }, "quantization_config"],
  [{ rope_scaling: { rope_type: "mrope", factor: 4 } }, 'the rope type "mrope"'],
  [{ partial_rotary_factor: 0.5 }, "partial_rotary_factor"],
  [{ rope_parameters: { partial_rotary_factor: 0.5 } }, "rope_parameters.partial_rotary_factor"],
  [{ layer_types: ["full_attention", "linear_attention"] }, 'layer_types "linear_attention"'],
])("%j is refused as unsupported, by name", (overrides, part) => {
  const error = { code: "model_unsupported", param: "config.json", message: expect.stringContaining(part) };
  expect(() => describeModel({ ...config, ...overrides })).toThrow(expect.objectContaining(error));
});

test.each([
  [{ hidden_size: undefined }, "config.json: hidden_size is missing"],
  [{ vocab_size: "512" }, 'vocab_size must be a positive integer, not "512"'],
  [{ num_key_value_heads: 3 }, "num_attention_heads (4) must be a multiple of num_key_value_heads (3)"],
  [{ head_dim: null, num_attention_heads: 6 }, "hidden_size (64) must be a multiple of num_attention_heads (6)"],
  [{ head_dim: 15 }, "head_dim (15) must be even"],
  [{ rms_norm_eps: 0 }, "rms_norm_eps"],
  [{ rope_theta: "10000" }, "rope_theta"],
  [{ layer_types: ["full_attention"] }, "layer_types has 1 entries for num_hidden_layers 2"],
  [{ num_hidden_layers: 2 ** 30 }, "no model has 1073741824 layers"],
])("%j is refused as invalid, by name", (overrides, part) => {
  const error = { code: "model_invalid", param: "config.json", message: expect.stringContaining(part) };
  expect(() => describeModel({ ...config, ...overrides })).toThrow(expect.objectContaining(error));
});
