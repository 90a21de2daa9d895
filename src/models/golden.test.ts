// Each family's graph, computed in float64, against Hugging Face's PyTorch code.

import { describe, expect, test } from "vitest";
import { FAMILY_FIXTURES } from "../../tests/models/family-fixtures.ts";
import { readFixture } from "../../tests/models/fixtures.ts";
import { lastLogitsReference } from "../../tests/references/graph-reference.ts";

const fixtures = await Promise.all(
  FAMILY_FIXTURES.map(async (folder) => ({ folder, fixture: await readFixture(folder) })),
);

describe.each(fixtures)("$folder", ({ fixture: { prompts, variants, weights, tensor } }) => {
  // What changes from one prompt to the next (transformers' "dynamic") is refused: see rotary-angles.test.ts.
  const supported = variants.filter(({ name }) => name !== "rope_scaling_dynamic");
  const cases = [{ name: "its config", config_overrides: {}, prompts }, ...supported].flatMap((variant) =>
    variant.prompts.map((prompt) => ({ prompt: prompt.name, variant: variant.name, ...variant, ...prompt })),
  );

  test.each(cases)("$variant: Hugging Face's logits after $prompt", async ({ config_overrides, ids, last_logits }) => {
    const logits = await lastLogitsReference(weights(config_overrides), ids);
    const golden = tensor(last_logits);
    expect(logits.length).toBe(golden.length);
    const worst = Math.max(...golden.map((value, i) => Math.abs(value - (logits[i] ?? NaN))));
    expect(worst).toBeLessThan(1e-4);
  });
});
