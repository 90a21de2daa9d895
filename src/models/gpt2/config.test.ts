import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { ChorusError } from "../../protocol/errors.ts";
import { attentionScale, parseGpt2Config } from "./config.ts";

function refusal(json: unknown): ChorusError {
  try {
    parseGpt2Config(json);
  } catch (error) {
    if (error instanceof ChorusError) return error;
    throw error;
  }
  return expect.fail("the config was accepted");
}

describe("parseGpt2Config", () => {
  test("reads the fixture's config", () => {
    const json: unknown = JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/config.json", "utf8"));
    expect(parseGpt2Config(json)).toEqual({
      shape: {
        numLayers: 2,
        hiddenSize: 64,
        numHeads: 4,
        numKvHeads: 4,
        headDim: 16,
        vocabSize: 512,
        maxPositions: 128,
      },
      nInner: 256,
      activation: "gelu_tanh",
      layerNormEpsilon: 1e-5,
      scaleAttnWeights: true,
      scaleAttnByInverseLayerIdx: false,
      tieWordEmbeddings: true,
      matrixLayout: "in-out",
      eosTokenIds: [511],
    });
  });

  test("an empty GPT-2 config is the smallest GPT-2", () => {
    expect(parseGpt2Config({ model_type: "gpt2", n_inner: null, layer_norm_epsilon: null })).toEqual({
      shape: {
        numLayers: 12,
        hiddenSize: 768,
        numHeads: 12,
        numKvHeads: 12,
        headDim: 64,
        vocabSize: 50257,
        maxPositions: 1024,
      },
      nInner: 3072,
      activation: "gelu_tanh",
      layerNormEpsilon: 1e-5,
      scaleAttnWeights: true,
      scaleAttnByInverseLayerIdx: false,
      tieWordEmbeddings: true,
      matrixLayout: "in-out",
      eosTokenIds: [50256],
    });
  });

  test("n_ctx sets neither the context nor the inner width", () => {
    const config = parseGpt2Config({ model_type: "gpt2", n_ctx: 77 });
    expect([config.shape.maxPositions, config.nInner]).toEqual([1024, 3072]);
  });

  test("GPT2Config's second names count", () => {
    const json = {
      model_type: "gpt2",
      hidden_size: 96,
      num_attention_heads: 3,
      num_hidden_layers: 5,
      max_position_embeddings: 40,
    };
    expect(parseGpt2Config(json)).toMatchObject({
      shape: { hiddenSize: 96, numHeads: 3, numLayers: 5, maxPositions: 40, headDim: 32 },
      nInner: 384,
    });
  });

  test("several end-of-text ids, and none", () => {
    expect(parseGpt2Config({ model_type: "gpt2", eos_token_id: [3, 5] }).eosTokenIds).toEqual([3, 5]);
    expect(parseGpt2Config({ model_type: "gpt2", eos_token_id: null }).eosTokenIds).toEqual([]);
  });

  test.each([
    ["gelu_new", "gelu_tanh"],
    ["gelu_pytorch_tanh", "gelu_tanh"],
    ["gelu_fast", "gelu_tanh"],
    ["gelu", "gelu_erf"],
  ])("activation_function %s is computed as %s", (name, activation) => {
    expect(parseGpt2Config({ model_type: "gpt2", activation_function: name }).activation).toBe(activation);
  });

  test("the constant of gelu_fast is the one of gelu_new in float32", () => {
    expect(Math.fround(0.7978845608)).toBe(Math.fround(Math.sqrt(2 / Math.PI)));
  });

  test.each([
    [{ model_type: "gpt2", activation_function: "relu" }, "relu"],
    [{ model_type: "gpt2", activation_function: "constructor" }, "constructor"],
    [{ model_type: "gpt2", reorder_and_upcast_attn: true }, "reorder_and_upcast_attn"],
    [{ model_type: "gpt2", add_cross_attention: true }, "add_cross_attention"],
    [{ model_type: "gpt2", quantization_config: { bits: 4 } }, "quantization_config"],
  ])("%j is refused as unsupported, by name", (json, name) => {
    const error = refusal(json);
    expect(error.code).toBe("model_unsupported");
    expect(error.message).toContain(name);
  });

  test.each([
    [null, "object"],
    [[], "object"],
    [{ model_type: "gpt2", n_embd: 100, n_head: 3 }, "n_embd (100)"],
    [{ model_type: "gpt2", n_layer: -1 }, "n_layer must be a positive integer, not -1"],
    [{ model_type: "gpt2", n_head: 1.5 }, "n_head must be a positive integer, not 1.5"],
    [{ model_type: "gpt2", n_positions: 0 }, "n_positions"],
    [{ model_type: "gpt2", vocab_size: "512" }, 'vocab_size must be a positive integer, not "512"'],
    [{ model_type: "gpt2", layer_norm_epsilon: 0 }, "layer_norm_epsilon"],
    [{ model_type: "gpt2", scale_attn_weights: "yes" }, "scale_attn_weights"],
    [{ model_type: "gpt2", eos_token_id: [1, -2] }, "eos_token_id"],
  ])("%j is refused as invalid, by name", (json, part) => {
    const error = refusal(json);
    expect(error.code).toBe("model_invalid");
    expect(error.message).toContain(part);
  });
});

test("the attention scale follows the two scaling settings, layer by layer", () => {
  const base = { model_type: "gpt2", n_embd: 64, n_head: 4 };
  expect(attentionScale(parseGpt2Config(base), 3)).toBe(0.25);
  expect(attentionScale(parseGpt2Config({ ...base, scale_attn_weights: false }), 3)).toBe(1);
  const inverse = parseGpt2Config({ ...base, scale_attn_by_inverse_layer_idx: true });
  expect([0, 1, 3].map((layer) => attentionScale(inverse, layer))).toEqual([0.25, 0.125, 0.0625]);
});
