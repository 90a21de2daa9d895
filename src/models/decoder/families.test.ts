// What config.json may say, or leave out, in each of the families.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { countParameters } from "../model-weights.ts";
import { describeModel } from "../families.ts";
import { parseDecoderConfig } from "./config.ts";

const configOf = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(`tests/fixtures/families/${name}/config.json`, "utf8"));
const parse = (name: string, overrides: Record<string, unknown>) =>
  parseDecoderConfig({ ...configOf(name), ...overrides });

test.each([
  ["smollm3", {}, [true, true, true, false, true]],
  ["smollm3", { no_rope_layers: null }, [true, true, true, false, true]],
  ["smollm3", { no_rope_layers: null, no_rope_layer_interval: 2 }, [true, false, true, false, true]],
  ["smollm3", { no_rope_layers: [0, 1, 0, 1, 1] }, [false, true, false, true, true]],
  ["granite", {}, [true, true, true]],
  ["granitehybrid", {}, [true, true, true]],
  ["granitehybrid", { position_embedding_type: null }, [false, false, false]],
  [
    "granitehybrid",
    { layer_types: undefined, layers_block_type: ["attention", "attention", "attention"] },
    [true, true, true],
  ],
  ["exaone4", {}, [true, true, true]],
  ["exaone4-window", {}, [true, true, true, false, true]],
  ["exaone4-window", { sliding_window: null }, [true, true, true, true, true]],
])("%s with %j rotates %j", (name, overrides, rotated) => {
  expect(parse(name, overrides).layers.map(({ angles }) => angles !== null)).toEqual(rotated);
});

test.each([
  ["smollm3", { use_sliding_window: true, sliding_window: 7 }, [null, null, null, 7, null]],
  ["smollm3", { sliding_window: 7 }, [null, null, null, null, null]],
  ["gemma2", {}, [12, null, 12, null]],
  [
    "gemma2",
    { layer_types: ["full_attention", "sliding_attention", "full_attention", "full_attention"] },
    [null, 12, null, null],
  ],
  ["olmo3", { layer_types: undefined }, [14, 14, 14, null]],
  ["exaone4-window", { layer_types: undefined }, [14, 14, 14, null, null]],
  ["exaone4-window", { layer_types: undefined, sliding_window_pattern: 2 }, [14, null, 14, null, 14]],
  ["phi3", { sliding_window: 9 }, [9, 9, 9]],
])("%s with %j has the windows %j", (name, overrides, windows) => {
  expect(parse(name, overrides).layers.map(({ window }) => window)).toEqual(windows);
});

test("without a window, OLMo 2 scales the positions of all layers", () => {
  const rope_scaling = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 16 };
  const { layers } = parse("olmo2", { rope_scaling });
  expect(layers[0]?.angles?.scaling).toBeGreaterThan(1);
  for (const { angles } of layers) expect(angles).toEqual(layers[0]?.angles);
});

test("where the config says nothing, numbers are those of the families' own classes", () => {
  const without = (name: string, ...fields: string[]) =>
    parse(name, Object.fromEntries(fields.map((field) => [field, undefined])));
  expect(without("gemma2", "attn_logit_softcapping", "final_logit_softcapping")).toMatchObject({
    attentionCap: 50,
    logitCap: 30,
  });
  expect(without("granite", "attention_multiplier").attentionScale).toBe(1);
  expect(without("olmo2", "rms_norm_eps").rmsNormEps).toBe(1e-5);
  expect(without("ernie4_5", "head_dim").shape.headDim).toBe(128);
  expect(without("arcee", "hidden_act").activation).toBe("relu2");
  expect(without("smollm3", "tie_word_embeddings").tieWordEmbeddings).toBe(true);
  expect(without("granite", "tie_word_embeddings").tieWordEmbeddings).toBe(false);
  expect(parse("gemma2", { attn_logit_softcapping: null, final_logit_softcapping: null })).toMatchObject({
    attentionCap: null,
    logitCap: null,
  });
});

/** Gemma 3 4B's config.json leaves out most sizes of its text model. */
const GEMMA_4B = {
  model_type: "gemma3",
  eos_token_id: [1, 106],
  vision_config: { hidden_size: 1152 },
  text_config: {
    model_type: "gemma3_text",
    hidden_size: 2560,
    intermediate_size: 10_240,
    num_hidden_layers: 34,
    sliding_window: 1024,
    rope_scaling: { factor: 8, rope_type: "linear" },
  },
};

test("the text model of a multimodal one is described, with what is said outside of it", () => {
  const { family, shape, eosTokenIds } = describeModel(GEMMA_4B);
  expect([family, eosTokenIds, shape]).toEqual([
    "gemma3_text",
    [1, 106],
    {
      numLayers: 34,
      hiddenSize: 2560,
      numHeads: 8,
      numKvHeads: 4,
      headDim: 256,
      vocabSize: 262_208,
      maxPositions: 131_072,
    },
  ]);
  expect(countParameters(describeModel(GEMMA_4B))).toBe(3_880_263_168);
});

test.each([
  ["gemma3", {}, true, true],
  ["gemma3", { tie_word_embeddings: false }, true, false],
  ["ministral", {}, true, true],
  ["ministral", {}, undefined, false],
  ["ministral", { tie_word_embeddings: true }, false, false],
  ["ministral", { tie_word_embeddings: true }, undefined, true],
  ["qwen35", { tie_word_embeddings: false }, true, false],
])(
  "%s with %j outside and tie_word_embeddings: %j inside has the embedding as its head: %j",
  (name, outer, inner, tied) => {
    const { text_config, ...config } = configOf(name);
    const text = name === "gemma3" ? config : (text_config as object);
    const model_type = name === "gemma3" ? "gemma3" : config["model_type"];
    const json = { ...config, model_type, ...outer, text_config: { ...text, tie_word_embeddings: inner } };
    expect(describeModel(JSON.parse(JSON.stringify(json))).isUnused("lm_head.weight")).toBe(tied);
  },
);

test.each([
  ["vision_tower.vision_model.embeddings.patch_embedding.weight", true],
  ["multi_modal_projector.mm_input_projection_weight", true],
  ["model.vision_tower.blocks.0.weight", true],
  ["model.language_model.layers.0.mlp.up_proj.weight", false],
  ["language_model.model.norm.weight", false],
  ["language_model.lm_head.weight", true],
])("of a multimodal model only the text model is read: %s", (tensor, isUnused) => {
  expect(describeModel(GEMMA_4B).isUnused(tensor)).toBe(isUnused);
});

test.each([
  ["granitehybrid", { num_local_experts: undefined }, "num_local_experts 8, a mixture of experts"],
  ["granitehybrid", { num_local_experts: 62 }, "num_local_experts 62"],
  ["granitehybrid", { layer_types: ["mamba", "attention", "mamba"] }, 'layer_types "mamba"'],
  ["granitehybrid", { layer_types: undefined }, 'layer_types "mamba"'],
  ["granitehybrid", { layer_types: undefined, layers_block_type: ["attention", "mamba", "attention"] }, '"mamba"'],
  ["arcee", { partial_rotary_factor: 0.5 }, "partial_rotary_factor"],
  ["ministral", { quantization_config: { quant_method: "fp8" } }, 'quantization_config ("fp8")'],
  ["ministral", { text_config: { model_type: "pixtral" } }, 'model_type "pixtral"'],
  ["ministral", { model_type: "qwen2_5_vl" }, 'model_type "qwen2_5_vl"'],
])("%s with %j is refused as unsupported, by name", (name, overrides, part) => {
  const error = { code: "model_unsupported", param: "config.json", message: expect.stringContaining(part) };
  expect(() => describeModel({ ...configOf(name), ...overrides })).toThrow(expect.objectContaining(error));
});

test.each([
  ["smollm3", { no_rope_layers: [1, 1] }, "no_rope_layers has undefined for layer 2, not 0 or 1"],
  ["phi3-longrope", { partial_rotary_factor: 1.5 }, "partial_rotary_factor (1.5) must be at most 1"],
  ["phi3-longrope", { rope_scaling: { type: "longrope", long_factor: [1] } }, "rope short_factor must be 6"],
  ["hunyuan-dense", { rope_scaling: { type: "yarn", factor: 4 } }, "rope scaling 1.13"],
  ["granite", { residual_multiplier: 0 }, "residual_multiplier must be a positive number, not 0"],
])("%s with %j is refused as invalid, by name", (name, overrides, part) => {
  const message = expect.stringContaining(part);
  expect(() => describeModel({ ...configOf(name), ...overrides })).toThrow(expect.objectContaining({ message }));
});
