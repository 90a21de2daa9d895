import { describe, expect, test } from "vitest";
import { EngineHarness, samplingParams, scriptedRunner } from "../../../tests/fakes/engine-harness.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { BlockPool } from "../cache/block-pool.ts";
import { Drafter } from "./drafter.ts";
import { NgramProposer } from "./ngram-proposer.ts";
import { Sequence } from "../sequence.ts";
import { placeSequence } from "../../../tests/fakes/place-sequence.ts";

function sequenceOf(tokens: readonly number[], maxTokens = 100): Sequence {
  const params = samplingParams({ maxTokens });
  const sequence = new Sequence({ requestId: "a", index: 0, params, prompt: tokens, arrivalMs: 0 });
  return placeSequence(sequence, 0, [], tokens.length - 1);
}

function drafterOf(numTokens: number, minMatch: number): Drafter {
  const drafter = new Drafter();
  drafter.use(new NgramProposer(minMatch), numTokens, 64);
  return drafter;
}

function draft(tokens: readonly number[], { numTokens = 3, minMatch = 2, room = 9, maxTokens = 100 } = {}) {
  const sequence = sequenceOf(tokens, maxTokens);
  drafterOf(numTokens, minMatch).draft(sequence, 1, room, new BlockPool(8, 4));
  return sequence.drafts;
}

describe("a draft", () => {
  test("is what followed the same tokens earlier", () => {
    expect(draft([1, 2, 3, 4, 5, 9, 1, 2])).toEqual([3, 4, 5]);
  });

  test("is what followed the longest match, and of those the latest", () => {
    expect(draft([7, 1, 2, 10, 1, 2, 11, 8, 1, 2])).toEqual([11, 8, 1]);
    expect(draft([7, 1, 2, 10, 1, 2, 11, 7, 1, 2])).toEqual([10, 1, 2]);
  });

  test("ends where the text does", () => {
    expect(draft([5, 5, 5])).toEqual([5]);
  });

  test("asks for a match of minMatch tokens", () => {
    expect(draft([1, 2, 3, 2], { minMatch: 2 })).toEqual([]);
    expect(draft([1, 2, 3, 2], { minMatch: 1 })).toEqual([3, 2]);
  });

  test("is no longer than numTokens, the room in the step, and what may come before the last token", () => {
    const tokens = [1, 2, 3, 4, 5, 6, 1, 2];
    expect(draft(tokens, { numTokens: 2 })).toEqual([3, 4]);
    expect(draft(tokens, { room: 1 })).toEqual([3]);
    expect(draft(tokens, { room: 0 })).toEqual([]);
    expect(draft(tokens, { maxTokens: 3 })).toEqual([3, 4]);
    expect(draft(tokens, { maxTokens: 1 })).toEqual([]);
  });

  test("takes no block where there is none to spare", () => {
    const sequence = sequenceOf([1, 2, 3, 4, 5, 6, 1, 2]);
    const pool = new BlockPool(2, 4);
    sequence.addBlocks(pool.allocate(2) ?? []);
    expect(drafterOf(3, 2).draft(sequence, 1, 9, pool)).toBe(0);
    expect(sequence.drafts).toEqual([]);
  });
});

test("a sequence whose drafts are of no use stops drafting, and tries again later", () => {
  const drafter = drafterOf(2, 1);
  const sequence = sequenceOf([1, 1]);
  const pool = new BlockPool(64, 4);
  const tries: boolean[] = [];
  for (let i = 0; i < 80; i++) {
    const drafted = drafter.draft(sequence, 1, 9, pool);
    tries.push(drafted > 0);
    sequence.giveRows(1, 0, 0);
    if (drafted > 0) drafter.settle(sequence, 0);
    sequence.append(1);
  }
  expect(tries.indexOf(false)).toBe(4);
  expect(tries.filter(Boolean)).toHaveLength(6); // 4, then one after each pause of 32
});

test("drafts that are right bring several tokens a step, the same ones", async () => {
  const script = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 9, 9, 9, 5, 6];
  const run = async (speculation: ResolvedEngineConfig["speculation"]) => {
    const harness = new EngineHarness({ config: { speculation }, runner: scriptedRunner(script) });
    harness.add("a", [8], { params: samplingParams({ maxTokens: script.length, ignoreEos: true }) });
    const steps = await harness.runToEnd();
    return { steps, tokens: harness.choice("a").tokenIds };
  };
  const plain = await run(null);
  const drafting = await run({ method: "ngram", numTokens: 4, minMatch: 2 });
  expect(drafting.tokens).toEqual(plain.tokens);
  expect(drafting.tokens).toEqual(script);
  expect(drafting.steps).toBeLessThan(plain.steps - 6);
});
