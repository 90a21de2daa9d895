import { expect, test } from "vitest";

import { params, request } from "../../tests/requests/sample-answers.ts";
import { seedSequence, withSeeds } from "./seeds.ts";
import { UNSEEDED } from "./text/text-calls.ts";

test("only prompts without a seed are given one: every seed that a request may have stays", () => {
  const given = [Number.MIN_SAFE_INTEGER, -1, 0, 1, Number.MAX_SAFE_INTEGER, UNSEEDED];
  const prompts = given.map((seed) => ({ tokenIds: [7], params: { ...params, seed }, param: "prompt" }));
  const reported = withSeeds({ ...request(), prompts }, () => 5).prompts.map((prompt) => prompt.params.seed);
  expect(reported).toEqual([...given.slice(0, -1), 5]);
});

test("each seed that an engine may have draws seeds of its own", () => {
  const seeds = [0, 1, 7, 2 ** 32 - 1, 2 ** 32, 2 ** 32 + 7, Number.MAX_SAFE_INTEGER];
  expect(new Set(seeds.map((seed) => seedSequence(seed)())).size).toBe(seeds.length);
});
