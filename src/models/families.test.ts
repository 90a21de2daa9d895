import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeModel } from "./families.ts";

test.each([
  [{ model_type: "mamba" }, 'model_type "mamba"'],
  [{}, 'model_type "none"'],
])("%j is refused as unsupported, with the families that are known", (config, name) => {
  expect(() => describeModel(config)).toThrow(
    expect.objectContaining({
      code: "model_unsupported",
      param: "config.json",
      message: expect.stringContaining(name),
    }),
  );
  expect(() => describeModel(config)).toThrow(/known: gpt2/);
});

test("a config is described by the family that it names", () => {
  const { family, shape } = describeModel(JSON.parse(readFileSync("tests/fixtures/gpt2-tiny/config.json", "utf8")));
  expect(family).toBe("gpt2");
  expect(shape).toEqual({
    numLayers: 2,
    hiddenSize: 64,
    numHeads: 4,
    numKvHeads: 4,
    headDim: 16,
    vocabSize: 512,
    maxPositions: 128,
  });
});

test("a model_type that is no string is refused as invalid, by name", () => {
  expect(() => describeModel({ model_type: 7 })).toThrow(/config\.json: model_type must be a string, not 7/);
});
