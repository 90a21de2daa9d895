import { expect, test } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { describeModel } from "../../models/families.ts";
import { ODD_SHAPES } from "../../../tests/models/odd-shapes.ts";
import { checkFits } from "./memory.ts";
import { ModelPlan } from "./model-plan.ts";

const CONTEXT = 2 ** 17;
const model = describeModel({
  ...ODD_SHAPES["normed heads of 34, large angles"],
  max_position_embeddings: CONTEXT,
});
const planOf = (maxModelLen: number, numGpuBlocks: number) =>
  new ModelPlan(model, resolveEngineConfig({ maxModelLen, numGpuBlocks, seed: 0 }, model.shape), 1);

test("positions that the cache has no room for take no memory", () => {
  expect(planOf(CONTEXT, 8).pages).toBe(planOf(128, 8).pages);
  expect(planOf(CONTEXT, CONTEXT / 16).pages).toBeGreaterThan(planOf(CONTEXT, 8).pages);
});

test("what is too large says how many blocks would fit, and they do", () => {
  const engine = resolveEngineConfig({ maxModelLen: 4096, numGpuBlocks: 2 ** 22, seed: 0 }, model.shape);
  const [, blocks] = /\((\d+) blocks\) would fit/.exec(refusal(() => checkFits(model, engine, 1))) ?? [];
  expect(() => checkFits(model, { ...engine, numGpuBlocks: Number(blocks) }, 1)).not.toThrow();
  expect(() => checkFits(model, { ...engine, numGpuBlocks: Number(blocks) + 64 }, 1)).toThrow("would fit");
});

function refusal(check: () => void): string {
  try {
    check();
  } catch (error) {
    return String(error);
  }
  throw new Error("it fits");
}
