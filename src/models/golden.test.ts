// Each family's graph, computed in float64, against Hugging Face's PyTorch code.

import { expect, test } from "vitest";
import { logitsReference } from "../testing/graph-reference.ts";
import { readFixture } from "../testing/fixtures.ts";

test.each(["gpt2-tiny"])("%s has Hugging Face's logits after each prompt", async (folder) => {
  const { weights, prompts, tensor } = await readFixture(folder);
  expect(prompts.length).toBeGreaterThan(3);
  for (const { ids, last_logits } of prompts) {
    const logits = (await logitsReference(weights, ids)).at(-1) ?? [];
    const golden = tensor(last_logits);
    const worst = Math.max(...golden.map((value, i) => Math.abs(value - (logits[i] ?? NaN))));
    expect(worst).toBeLessThan(1e-4);
  }
});
