import { expect, it } from "vitest";

import { describeModel, FAMILIES } from "../../models/families.ts";
import { lastLogitsReference } from "../../../tests/references/graph-reference.ts";
import { expectClose, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { inventedFamily } from "../../../tests/models/invented-family.ts";
import { randomWeights } from "../../../tests/models/random-weights.ts";
import { createRunner, greedyTokens, lastLogits } from "../../../tests/gpu/runner-runs.ts";

const opened = await openTestDevice();
const weights = randomWeights(describeModel({ model_type: "invented" }, undefined, [...FAMILIES, inventedFamily]));
const { shape } = weights.model;
const prompt = Array.from({ length: 37 }, (_, i) => (i * 29 + 7) % shape.vocabSize);

it("has the float64 logits", async () => {
  const runner = await createRunner(opened, weights, {}, { isComplete: false });
  // Compute the text step by step through the cache, and then as one prompt.
  const drawn = await greedyTokens(runner, prompt, 8);
  const text = [...prompt, ...drawn.slice(0, -1)];
  const whole = await lastLogits(opened, runner, text, shape.vocabSize);
  expectClose(whole, await lastLogitsReference(weights, text), 2e-4);
  expect(whole.indexOf(Math.max(...whole))).toBe(drawn.at(-1));
  runner.dispose();
});
