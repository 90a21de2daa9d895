import { expect, test } from "vitest";
import { readFixture } from "../../../tests/models/fixtures.ts";
import { parseDecoderConfig } from "./config.ts";

const { config } = await readFixture("gemma3-tiny");

const parse = (overrides: Record<string, unknown>) => parseDecoderConfig({ ...config, ...overrides });

test.each([
  [{}, [16, null, 16, null]],
  [{ sliding_window_pattern: undefined, _sliding_window_pattern: 4 }, [16, 16, 16, null]],
  [{ sliding_window_pattern: undefined }, [16, 16, 16, 16]],
  [
    { layer_types: ["full_attention", "sliding_attention", "full_attention", "sliding_attention"] },
    [null, 16, null, 16],
  ],
])("%j has the windows %j", (overrides, windows) => {
  expect(parse(overrides).layers.map(({ window }) => window)).toEqual(windows);
});

test("the head is the token embedding unless the config says otherwise", () => {
  expect([parse({}).tieWordEmbeddings, parse({ tie_word_embeddings: false }).tieWordEmbeddings]).toEqual([true, false]);
});

test("the scale comes from query_pre_attn_scalar, not from the heads' size", () => {
  expect(parse({}).attentionScale).toBe(1 / Math.sqrt(24));
});

test("what transformers 5 writes, rope_parameters of each kind of layer, means the same", () => {
  const angles = (overrides: Record<string, unknown>) => parse(overrides).layers.map((layer) => layer.angles);
  const rope_parameters = {
    full_attention: { rope_type: "linear", factor: 8, rope_theta: 1e6 },
    sliding_attention: { rope_type: "default", rope_theta: 1e4 },
  };
  const withKinds = angles({ rope_theta: undefined, rope_local_base_freq: undefined, rope_parameters });
  expect(withKinds).toEqual(angles({ rope_scaling: { rope_type: "linear", factor: 8 } }));
});

test("logits are capped, scores are not: transformers reads that field for Gemma 2 alone", () => {
  const caps = parse({ attn_logit_softcapping: 5, final_logit_softcapping: 7 });
  expect([caps.attentionCap, caps.logitCap]).toEqual([null, 7]);
});

test("two-way attention is refused as unsupported, by name", () => {
  const message = expect.stringContaining("use_bidirectional_attention: true");
  const error = { code: "model_unsupported", param: "config.json", message };
  expect(() => parse({ use_bidirectional_attention: true })).toThrow(expect.objectContaining(error));
});
