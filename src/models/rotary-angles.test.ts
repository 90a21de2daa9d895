import { describe, expect, test } from "vitest";
import { readFixture } from "../../tests/models/fixtures.ts";
import { describeModel } from "./families.ts";
import { frequenciesFor, type RotaryAngles } from "./graph.ts";
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

const YARN = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 64 };
const LLAMA3 = {
  rope_type: "llama3",
  factor: 8,
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 64,
};
const OUTSIDE = { original_max_position_embeddings: 64 };
/** Those of Hugging Face's Ministral3Config. */
const MINISTRAL3 = {
  rope_type: "yarn",
  rope_theta: 1e6,
  factor: 16,
  original_max_position_embeddings: 16_384,
  mscale: 1,
  mscale_all_dim: 1,
  llama_4_scaling_beta: 0.1,
};
const ministral3 = { model_type: "ministral3", max_position_embeddings: 262_144 };

test.each([
  ["the base may be in the scaling", { rope_scaling: { ...YARN, rope_theta: 1e5 } }, { rope_theta: 1e5 }],
  ["rope_scaling counts before rope_parameters", { rope_parameters: { rope_type: "linear", factor: 2 } }, {}],
  ["an empty one does not count", { rope_scaling: {}, rope_parameters: YARN }, {}],
  [
    "YaRN's original context may be outside of the scaling",
    { ...OUTSIDE, rope_scaling: { ...YARN, original_max_position_embeddings: undefined } },
    {},
  ],
  [
    "it counts outside of the scaling first",
    { ...OUTSIDE, rope_scaling: { ...YARN, original_max_position_embeddings: 32 } },
    {},
  ],
  [
    "Llama 3's original context may be outside of the scaling",
    { ...OUTSIDE, rope_scaling: { ...LLAMA3, original_max_position_embeddings: undefined } },
    { rope_scaling: LLAMA3 },
  ],
  [
    "Ministral 3 is scaled where the config has nothing",
    { ...ministral3, rope_scaling: undefined },
    {
      ...ministral3,
      rope_scaling: MINISTRAL3,
    },
  ],
  [
    "Ministral 3 with rope_parameters has those alone",
    { ...ministral3, rope_scaling: undefined, rope_parameters: YARN },
    {},
  ],
])("%s", (_, overrides, same) => {
  const base = { rope_scaling: YARN };
  expect(anglesOf({ ...base, ...overrides })).toEqual(anglesOf({ ...base, ...same }));
});

test("what is null in Ministral 3's config says nothing", () => {
  const own = { ...ministral3, rope_scaling: null };
  const defaults = anglesOf({ ...own, rope_parameters: MINISTRAL3 });
  expect(anglesOf({ ...own, rope_parameters: null, rope_theta: null })).toEqual(defaults);
});

test("where the original context is nowhere, or YaRN's factor is null, the model's context counts", () => {
  const { original_max_position_embeddings: _, ...llama3 } = LLAMA3;
  expect(anglesOf({ max_position_embeddings: 64, rope_scaling: llama3 })).toEqual(anglesOf({ rope_scaling: LLAMA3 }));
  const nullFactor = anglesOf({ max_position_embeddings: 256, rope_scaling: { ...YARN, factor: null } });
  expect(nullFactor).toEqual(anglesOf({ rope_scaling: YARN }));
});

test("YaRN without truncate goes from dimension to dimension as they are computed", () => {
  const angles = (truncate: boolean | undefined) =>
    anglesOf({ rope_theta: 1e4, rope_scaling: { ...YARN, beta_fast: 4, truncate } }).inverseFrequencies;
  const dimensionOf = (turns: number) => (32 * Math.log(64 / (turns * 2 * Math.PI))) / (2 * Math.log(1e4));
  const [first, last] = [dimensionOf(4), dimensionOf(1)];
  expect([Math.floor(first), Math.ceil(last)]).toEqual([1, 5]);
  const expected = Array.from({ length: 16 }, (__, i) => {
    const divided = Math.min(1, Math.max(0, (i - first) / (last - first)));
    return 1e4 ** (-i / 16) * (1 - divided + divided / 4);
  });
  angles(false).forEach((frequency, i) => expect(frequency).toBeCloseTo(expected[i] ?? NaN, 12));
  expect(angles(undefined)).toEqual(angles(true));
  expect(angles(true)).not.toEqual(angles(false));
});

test("YaRN's factor is the written one, whatever the context's lengths are", () => {
  const yarn = { rope_type: "yarn", factor: 4, original_max_position_embeddings: 64 };
  const given = anglesOf({ rope_scaling: yarn, max_position_embeddings: 64 });
  expect(given).toEqual(anglesOf({ rope_scaling: yarn, max_position_embeddings: 256 }));
});

test("LongRoPE has its long factors where an engine's longest sequence exceeds the original context", () => {
  const factors = { short_factor: Array<number>(16).fill(2), long_factor: Array<number>(16).fill(4) };
  const rope_scaling = { rope_type: "longrope", original_max_position_embeddings: 64, ...factors };
  const angles = anglesOf({ rope_scaling, max_position_embeddings: 512 });
  const plain = anglesOf({ rope_scaling: null }).inverseFrequencies;
  expect(frequenciesFor(angles, 64)).toEqual(plain.map((frequency) => frequency / 2));
  expect(frequenciesFor(angles, 65)).toEqual(plain.map((frequency) => frequency / 4));
  // The factor of cosine and sine is that of the whole context either way: sqrt(1 + ln 8 / ln 64).
  expect(angles.scaling).toBeCloseTo(Math.sqrt(1.5), 12);
});

describe("refused by name", () => {
  const settings = { theta: 1e4, headDim: 32, maxPositions: 64 };
  const refusal = (json: Record<string, unknown>) => () =>
    rotaryAngles({ ...settings, scaling: { name: "rope_scaling", json } });

  test("an unknown rope type, with those that are known", () => {
    const error = { code: "model_unsupported", param: "config.json", message: expect.stringContaining('"mrope"') };
    expect(refusal({ rope_type: "mrope" })).toThrow(expect.objectContaining(error));
    expect(refusal({ type: "mrope" })).toThrow(/known: default, linear, llama3, yarn/);
  });

  test("what changes with a prompt's length", () => {
    const error = { code: "model_unsupported", message: expect.stringContaining('"dynamic" without alpha') };
    expect(refusal({ rope_type: "dynamic", factor: 2 })).toThrow(expect.objectContaining(error));
  });

  test.each([
    [{ rope_type: "linear" }, "factor is missing"],
    [{ rope_type: "longrope" }, "rope short_factor must be 16 positive numbers"],
    [{ type: "su", short_factor: Array<number>(16).fill(1), long_factor: [1] }, "rope long_factor must be 16"],
    [{ rope_type: "linear", factor: -1 }, "config.json: rope_scaling: factor must be a positive number, not -1"],
    [{ rope_type: 3 }, "config.json: rope_scaling: rope_type must be a string, not 3"],
    [{ rope_type: "llama3", factor: 8, high_freq_factor: 4 }, "rope low_freq_factor is missing"],
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
