import { expect, it } from "vitest";

import { describeModel, FAMILIES } from "../../models/families.ts";
import { lastLogitsReference } from "../../../tests/references/graph-reference.ts";
import { expectClose, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { inventedFamily } from "../../../tests/models/invented-family.ts";
import { ODD_SHAPES } from "../../../tests/models/odd-shapes.ts";
import { randomWeights } from "../../../tests/models/random-weights.ts";
import { createRunner, greedyTokens, lastLogits } from "../../../tests/gpu/runner-runs.ts";

const opened = await openTestDevice();

// The CPU's tests have all odd sizes (cpu/golden.test.ts); these two pad every dimension of the kernels here.
const { "heads of three": ofThree, "nine heads on three, a window of 17": onThree } = ODD_SHAPES;

it.each([{ model_type: "invented" }, ofThree, onThree])("has the float64 logits: %j", async (config) => {
  const weights = randomWeights(describeModel(config, undefined, [...FAMILIES, inventedFamily]));
  const { vocabSize } = weights.model.shape;
  const prompt = Array.from({ length: 37 }, (_, i) => (i * 29 + 7) % vocabSize);
  const runner = await createRunner(opened, weights, {}, { isComplete: false });
  // Compute the text step by step through the cache, and then as one prompt.
  const drawn = await greedyTokens(runner, prompt, 8);
  const text = [...prompt, ...drawn.slice(0, -1)];
  const whole = await lastLogits(opened, runner, text, vocabSize);
  expectClose(whole, await lastLogitsReference(weights, text), 2e-4);
  expect(whole.indexOf(Math.max(...whole))).toBe(drawn.at(-1));
  runner.dispose();
});
