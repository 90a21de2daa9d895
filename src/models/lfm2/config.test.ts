import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { describeModel } from "../families.ts";
import { parseLfm2Config } from "./config.ts";

const config = JSON.parse(readFileSync("tests/fixtures/families/lfm2/config.json", "utf8")) as object;

test("layers attend where layer_types, else full_attn_idxs, says so; without either all do", () => {
  const typesOf = (changes: object) => parseLfm2Config({ ...config, ...changes }).layers.join();
  const types = "conv,conv,full_attention,conv,full_attention";
  expect(typesOf({})).toBe(types);
  expect(typesOf({ layer_types: undefined, full_attn_idxs: [2, 4] })).toBe(types);
  const all = parseLfm2Config({ ...config, layer_types: null });
  expect([new Set(all.layers), all.shape.convs]).toEqual([new Set(["full_attention"]), undefined]);
});

test("the feed-forward part is two thirds as wide as the config says, unless that says not to", () => {
  const widthOf = (changes: object) => parseLfm2Config({ ...config, ...changes }).intermediateSize;
  expect(widthOf({})).toBe(52);
  const real = { block_ff_dim: 6656, block_auto_adjust_ff_dim: true, block_multiple_of: 256 };
  expect(widthOf(real)).toBe(4608);
  expect(widthOf({ ...real, block_ff_dim: undefined, intermediate_size: 6656 })).toBe(4608);
  expect(widthOf({ ...real, block_ffn_dim_multiplier: 0.5 })).toBe(2304);
  expect(widthOf({ ...real, block_ffn_dim_multiplier: null })).toBe(4437);
  expect(widthOf({ ...real, block_ffn_dim_multiplier: undefined })).toBe(4608);
});

test("the base of the angles may be called theta, as LiquidAI wrote it first", () => {
  const angleOf = (changes: object) => parseLfm2Config({ ...config, ...changes }).angles.inverseFrequencies[1];
  expect(angleOf({ theta: 5e4, rope_theta: 1e6 })).toBe(angleOf({ rope_theta: 5e4 }));
});

test.each([
  [{ conv_bias: true }, "model_unsupported", "conv_bias"],
  [{ layer_types: ["conv", "conv", "mamba", "conv", "conv"] }, "model_unsupported", 'layer_types "mamba"'],
  [{ layer_types: ["conv"] }, "model_invalid", "layer_types has 1 entries for num_hidden_layers 5"],
  [{ conv_L_cache: 1 }, "model_invalid", "conv_L_cache"],
  [{ conv_L_cache: 65 }, "model_invalid", "conv_L_cache"],
  [{ conv_L_cache: 2.5 }, "model_invalid", "conv_L_cache"],
  [{ hidden_size: null }, "model_invalid", "hidden_size"],
])("%j is refused by name", (changes, code, part) => {
  const error = { code, param: "config.json", message: expect.stringContaining(part) };
  expect(() => describeModel({ ...config, ...changes })).toThrow(expect.objectContaining(error));
});
