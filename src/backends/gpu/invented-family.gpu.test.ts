import { expect, it } from "vitest";

import { describeModel, FAMILIES } from "../../models/families.ts";
import { logitsReference } from "../../testing/graph-reference.ts";
import { expectClose, openTestDevice } from "../../testing/gpu.ts";
import { inventedFamily } from "../../testing/invented-family.ts";
import { randomWeights } from "../../testing/random-weights.ts";
import { createRunner, greedyTokens, lastLogits } from "../../testing/runner-runs.ts";

const opened = await openTestDevice();
const weights = randomWeights(describeModel({ model_type: "invented" }, undefined, [...FAMILIES, inventedFamily]));
const { vocabSize } = weights.model.shape;
const prompt = Array.from({ length: 37 }, (_, i) => (i * 29 + 7) % vocabSize);

it.each([
  { isSoftware: true, hasSubgroups: opened.hasSubgroups },
  { isSoftware: true, hasSubgroups: false },
  { isSoftware: false, hasSubgroups: false },
])("a family that nobody published has the float64 logits (%j)", async (adapter) => {
  const runner = await createRunner({ ...opened, ...adapter }, weights);
  // Step by step through the cache, and then the same text as one prompt.
  const drawn = await greedyTokens(runner, prompt, 8);
  const text = [...prompt, ...drawn.slice(0, -1)];
  const whole = await lastLogits(opened, runner, text, vocabSize);
  expectClose(whole, (await logitsReference(weights, text)).at(-1) ?? [], 2e-4);
  expect(whole.indexOf(Math.max(...whole))).toBe(drawn.at(-1));
  runner.dispose();
});
