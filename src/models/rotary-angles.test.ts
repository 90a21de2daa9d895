import { describe, expect, test } from "vitest";
import { readFixture } from "../../tests/models/fixtures.ts";
import { describeModel } from "./families.ts";
import type { RotaryAngles } from "./graph.ts";
import { rotaryAngles } from "./rotary-angles.ts";

const { config, rope, variants, tensor } = await readFixture("llama-rope-scaled");

function anglesOf(overrides: Readonly<Record<string, unknown>>): RotaryAngles {
  const rotary = describeModel({ ...config, ...overrides }).graph.operations.find(({ type }) => type === "rotary");
  return rotary?.type === "rotary" ? rotary.angles : expect.fail("the graph turns nothing");
}

const cases = [{ name: "llama3", config_overrides: {}, rope }, ...variants].flatMap((one) =>
  one.rope ? [{ name: one.name, overrides: one.config_overrides, rope: one.rope }] : [],
);

test("the fixture has frequencies of each rope type", () => expect(cases.length).toBe(7));

test.each(cases)("$name: Hugging Face's frequencies and attention scaling", ({ overrides, rope: golden }) => {
  const { inverseFrequencies, scaling } = anglesOf(overrides);
  const expected = [...tensor(golden.inv_freq)];
  expect(inverseFrequencies.length).toBe(expected.length);
  const errors = expected.map((value, i) => Math.abs((inverseFrequencies[i] ?? NaN) / value - 1));
  // Hugging Face computes them in float32.
  expect(Math.max(...errors)).toBeLessThan(2e-6);
  expect(scaling).toBeCloseTo(golden.attention_scaling, 12);
});

test("what transformers 5 writes, rope_parameters, means the same", () => {
  const scaling = { rope_type: "linear", factor: 4 };
  const inOne = { rope_theta: undefined, rope_scaling: undefined, rope_parameters: { ...scaling, rope_theta: 5e5 } };
  expect(anglesOf(inOne)).toEqual(anglesOf({ rope_theta: 5e5, rope_scaling: scaling }));
});

test("YaRN's factor is the written one, whatever the context's lengths are", () => {
  const yarn = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 64 };
  const given = anglesOf({ rope_scaling: yarn, max_position_embeddings: 64 });
  expect(given).toEqual(anglesOf({ rope_scaling: yarn, max_position_embeddings: 256 }));
});

describe("refused by name", () => {
  const settings = { theta: 1e4, headDim: 32, maxPositions: 64 };
  const refusal = (json: Record<string, unknown>) => () =>
    rotaryAngles({ ...settings, scaling: { name: "rope_scaling", json } });

  test.each(["dynamic", "longrope", "su", "mrope"])("the rope type %s", (type) => {
    const error = { code: "model_unsupported", param: "config.json", message: expect.stringContaining(`"${type}"`) };
    expect(refusal({ rope_type: type })).toThrow(expect.objectContaining(error));
    expect(refusal({ type })).toThrow(/known: default, linear, llama3, yarn/);
  });

  test.each([
    [{ rope_type: "linear" }, "factor is missing"],
    [{ rope_type: "linear", factor: -1 }, "config.json: rope_scaling: factor must be a positive number, not -1"],
    [{ rope_type: 3 }, "config.json: rope_scaling: rope_type must be a string, not 3"],
    [{ rope_type: "llama3", factor: 8, low_freq_factor: 1, high_freq_factor: 4 }, "original_max_position_embeddings"],
    [
      { rope_type: "llama3", factor: 8, low_freq_factor: 4, high_freq_factor: 4, original_max_position_embeddings: 64 },
      "high_freq_factor",
    ],
  ])("%j", (json, part) => {
    const error = { code: "model_invalid", param: "config.json", message: expect.stringContaining(part) };
    expect(refusal(json)).toThrow(expect.objectContaining(error));
  });

  test("heads of an odd size", () => {
    expect(() => rotaryAngles({ ...settings, headDim: 33, scaling: null })).toThrow(/head_dim \(33\) must be even/);
  });
});
