import { expect, it } from "vitest";

import { samplingParams } from "../../tests/fakes/engine-harness.ts";
import { BeamGroup } from "./beams/beam-group.ts";
import type { GrammarMatcher } from "./sampling/grammar-matcher.ts";
import type { SamplingParams } from "./sampling/sampling-params.ts";
import { Sequence, type ScheduledSequence, type SequenceFields } from "./sequence.ts";
import { placeSequence } from "../../tests/fakes/place-sequence.ts";
import { FEEDBACK, ROW_WORDS, type StepPlan } from "./step-plan.ts";
import { StepPlanner } from "./step-planner.ts";

const RULED = { repetitionPenalty: 1.5, badWords: [[5, 6]], minTokens: 1 };

function placed(
  prompt: number[],
  slot: number,
  params: Partial<SamplingParams> = {},
  fields: Partial<SequenceFields> = {},
): Sequence {
  const all = { requestId: "a", index: 0, params: samplingParams(params), prompt, arrivalMs: 0, ...fields };
  const sequence = new Sequence(all);
  placeSequence(sequence, slot, [10 + slot]);
  return sequence;
}

function entry(sequence: Sequence, changes: Partial<ScheduledSequence> = {}): ScheduledSequence {
  const count = sequence.tokens.length;
  return { sequence, start: 0, count, samples: true, drafts: [], scored: 0, cachedTokens: 0, ...changes };
}

function rowsOf({ rows }: StepPlan): number[][] {
  return Array.from({ length: rows.length / ROW_WORDS }, (_, i) =>
    Array.from(rows.subarray(i * ROW_WORDS, (i + 1) * ROW_WORDS)),
  );
}

it("lays sequences out one after the other: rows, then per sequence scores before draws", () => {
  const scored = placed([7, 8, 9], 2, { promptLogprobs: 3, topLogprobs: 1 });
  const chunk = placed([1, 2, 3], 0);
  const plan = new StepPlanner().plan([entry(scored, { scored: 2 }), entry(chunk, { count: 2, samples: false })]);
  expect(rowsOf(plan)).toEqual([
    [7, 0, 2, 0],
    [8, 1, 2, 0],
    [9, 2, 2, 0],
    [1, 0, 0, 0],
    [2, 1, 0, 0],
  ]);
  expect(plan.sequences).toEqual([
    { slot: 2, start: 0, numRows: 3, numScored: 2, numDrawn: 1 },
    { slot: 0, start: 0, numRows: 2, numScored: 0, numDrawn: 0 },
  ]);
  expect(plan.samples).toMatchObject([
    { kind: "score", row: 0, slot: 2, tokenId: 8, numTop: 3 },
    { kind: "score", row: 1, slot: 2, tokenId: 9, numTop: 3 },
    { kind: "draw", row: 2, slot: 2, numTop: 1, outputIndex: 0, promptLength: 3, isProcessed: false, mask: null },
  ]);
});

it("is plain data, without the sequence", () => {
  const sequence = placed([1, 2], 0, RULED);
  const plan = new StepPlanner().plan([entry(sequence)]);
  expect(structuredClone(plan)).toEqual(plan);
  expect(plan.rules[0]?.rules).toBe(sequence.params);
  expect(plan.rules).toMatchObject([
    { slot: 0, rules: { logitBias: [], endTokenIds: [], badWords: [[5, 6]], allowedTokenIds: null } },
  ]);
});

it("takes a drawn token from its slot as long as its sequence keeps the slot", () => {
  const planner = new StepPlanner();
  const tokenOf = (sequence: Sequence, start: number) => planner.plan([entry(sequence, { start, count: 1 })]).rows[0];
  const first = placed([11], 0);
  expect(tokenOf(first, 0)).toBe(11);
  expect(tokenOf(first, 1)).toBe(FEEDBACK);
  first.append(99);
  expect(tokenOf(first, 2)).toBe(FEEDBACK);

  // Another sequence takes the slot; the first comes back later and must bring its token itself.
  expect(tokenOf(placed([55, 56], 0), 1)).toBe(56);
  expect(tokenOf(first, 1)).toBe(99);
});

it("refuses a token that neither the host nor the slot has, and a sequence without a slot", () => {
  const planner = new StepPlanner();
  expect(() => planner.plan([entry(placed([1], 0), { start: 1, count: 1 })])).toThrow("token 1 of a#0 is not known");
  const homeless = placed([1], 0);
  homeless.preempt();
  expect(() => planner.plan([entry(homeless)])).toThrow("without a slot");
});

it("draws after each draft, and then takes the next token from the host", () => {
  const planner = new StepPlanner();
  const sequence = placed([1, 2], 0, RULED);
  planner.plan([entry(sequence, { count: 1, samples: false })]);
  const drafting = planner.plan([entry(sequence, { start: 1, count: 3, drafts: [8, 9] })]);
  expect(rowsOf(drafting).map(([token, position]) => [token, position])).toEqual([
    [2, 1],
    [8, 2],
    [9, 3],
  ]);
  expect(drafting.samples).toMatchObject([
    { row: 0, outputIndex: 0, isTooEarly: true },
    { row: 1, outputIndex: 1, isTooEarly: false },
    { row: 2, outputIndex: 2, isTooEarly: false },
  ]);
  expect(drafting.histories).toEqual([{ slot: 0, start: 2, values: [8, 9] }]);
  for (const token of [8, 9, 4]) sequence.append(token);
  const next = planner.plan([entry(sequence, { start: 4, count: 1 })]);
  expect(next.rows[0]).toBe(4);
  expect(next.histories).toEqual([]);
});

it("has histories and rules of those that are new in their slots, if rules need them", () => {
  const planner = new StepPlanner();
  const [ruled, plain] = [placed([1, 2], 0, RULED), placed([3], 1)];
  const first = planner.plan([entry(ruled), entry(plain)]);
  expect(first.histories).toEqual([{ slot: 0, start: 0, values: [1, 2] }]);
  expect(first.rules).toHaveLength(1);
  expect(first.samples).toMatchObject([{ isProcessed: true }, { isProcessed: false }]);
  const again = planner.plan([entry(ruled)]);
  expect([again.histories, again.rules]).toEqual([[], []]);

  planner.plan([entry(placed([4], 0))]);
  ruled.append(7);
  const back = planner.plan([entry(ruled, { start: 2, count: 1 })]);
  expect(back.histories).toEqual([{ slot: 0, start: 0, values: [1, 2, 7] }]);
  expect(back.rules).toHaveLength(1);
});

it("has each block once, and all of them of a sequence that has given up its blocks or slot", () => {
  const planner = new StepPlanner();
  const sequence = placed([1], 3);
  const tables = () => planner.plan([entry(sequence)]).blockTables;
  expect(tables()).toEqual([{ slot: 3, start: 0, values: [13] }]);
  expect(tables()).toEqual([]);
  sequence.addBlocks([4, 5]);
  expect(tables()).toEqual([{ slot: 3, start: 1, values: [4, 5] }]);
  placeSequence(sequence, 3, [6, 7, 8]);
  expect(tables()).toEqual([{ slot: 3, start: 0, values: [6, 7, 8] }]);
  expect(tables()).toEqual([]);
  planner.plan([entry(placed([2], 3))]);
  expect(tables()).toEqual([{ slot: 3, start: 0, values: [6, 7, 8] }]);
});

it("brings the tokens of beams itself, each time", () => {
  const fields = { requestId: "a", index: 0, params: samplingParams(), prompt: [1, 2], arrivalMs: 0 };
  const group = new BeamGroup(fields, { numBeams: 2, lengthPenalty: 1, earlyStopping: false }, 1, new Set());
  const planner = new StepPlanner();
  const beam = placed([1, 2], 0, {}, { group });
  expect(planner.plan([entry(beam)]).samples).toMatchObject([{ isProcessed: true, isNormalised: true }]);
  beam.append(5);
  const next = planner.plan([entry(beam, { start: 2, count: 1 })]);
  expect(next.rows[0]).toBe(5);
  expect(next.histories).toEqual([{ slot: 0, start: 0, values: [1, 2, 5] }]);
});

it("has a copy of a grammar's mask, without the end tokens while it is too early for them", () => {
  const mask = Uint32Array.of(0b1011);
  const matcher: GrammarMatcher = {
    endTokenIds: [1],
    mask,
    prepareMask: () => Promise.resolve(true),
    accept: () => true,
    dispose: () => undefined,
  };
  const planner = new StepPlanner();
  const [early, late] = [placed([1], 0, { minTokens: 1 }, { matcher }), placed([1], 1, {}, { matcher })];
  const plan = planner.plan([entry(placed([9], 2)), entry(late), entry(early)]);
  mask.fill(0);
  expect(plan.masks).toEqual([Uint32Array.of(0b1011), Uint32Array.of(0b1001)]);
  expect(plan.samples).toMatchObject([
    { mask: null, isProcessed: false },
    { mask: 0, isProcessed: true, isTooEarly: false },
    { mask: 1, isProcessed: true, isTooEarly: false },
  ]);
});
