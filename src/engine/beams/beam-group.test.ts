import { describe, expect, it } from "vitest";
import { samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { BeamGroup, type BeamRound } from "./beam-group.ts";
import type { BeamSearchParams } from "../sampling/sampling-params.ts";

const END = 99;
const PROMPT = [7, 8];

function groupOf({ maxTokens = 4, n = 2, ...search }: Partial<BeamSearchParams> & { maxTokens?: number; n?: number }) {
  const params = { numBeams: 2, lengthPenalty: 1, earlyStopping: false, ...search };
  const fields = { requestId: "r", index: 0, params: samplingParams({ maxTokens }), prompt: PROMPT, arrivalMs: 0 };
  return new BeamGroup(fields, params, n, new Set([END]));
}

const top = (...pairs: readonly (readonly [number, number])[]) =>
  pairs.map(([tokenId, logprob]) => ({ tokenId, logprob }));

/** Gives each beam its candidates, in the order of the beams. */
function round(group: BeamGroup, ...candidates: ReturnType<typeof top>[]): BeamRound {
  const rounds = group.members.map((sequence, i) => group.deliver(sequence, candidates[i] ?? []));
  const last = rounds.pop();
  expect(rounds.every((one) => one === null)).toBe(true);
  if (!last) throw new Error("The round did not come to its end.");
  return last;
}

const outputs = (group: BeamGroup) => group.members.map(({ tokens }) => tokens.slice(PROMPT.length));
const answers = ({ answers: found }: BeamRound) =>
  found?.map(({ tokens, score }) => [tokens.map(({ tokenId }) => tokenId), score]);

describe("a group of beams", () => {
  it("begins with one, that asks for as many tokens as can be chosen, greedily", () => {
    const [first, ...others] = groupOf({ numBeams: 3 }).members;
    expect(others).toEqual([]);
    expect(first?.params).toMatchObject({ topLogprobs: 4, temperature: 0 });
  });

  it("goes on with the best of all, the first of a beam in its place, others as forks that share its tokens", () => {
    const group = groupOf({});
    const [first] = group.members;
    const { forks, dropped } = round(group, top([1, -1], [2, -2], [3, -3]));
    expect(outputs(group)).toEqual([[1], [2]]);
    expect(group.members).toEqual([first, ...forks]);
    expect(forks[0]).toMatchObject({ leader: first, numSharedTokens: PROMPT.length, promptLength: PROMPT.length });
    expect(dropped).toEqual([]);

    const second = round(group, top([4, -0.1], [5, -0.2], [6, -9]), top([4, -1], [5, -2], [6, -3]));
    expect(outputs(group)).toEqual([
      [1, 4],
      [1, 5],
    ]);
    expect(second.dropped).toEqual(forks);
    expect(second.forks).toHaveLength(1);
  });

  it("takes equally good ones by their beams, and within a beam by their ids", () => {
    const group = groupOf({});
    round(group, top([1, -1], [2, -1], [3, -1]));
    expect(outputs(group)).toEqual([[1], [2]]);
    round(group, top([4, -1], [5, -1]), top([4, -1], [5, -1]));
    expect(outputs(group)).toEqual([
      [1, 4],
      [1, 5],
    ]);
  });

  it("keeps an ending if it is among the best as many as there are beams, and looks further for what goes on", () => {
    const group = groupOf({ earlyStopping: true });
    round(group, top([1, -1], [END, -2], [2, -3]));
    expect(outputs(group)).toEqual([[1], [2]]);
    // Here an ending comes third.
    const last = round(group, top([4, -0.1], [5, -0.2], [END, -0.3]), top([6, -9], [END, -9.5]));
    expect(last.answers).toBeNull();
    const end = round(group, top([END, -0.1], [6, -5]), top([7, -8], [8, -8.5]));
    expect(answers(end)).toEqual([
      [[1, 4, END], expect.closeTo(-1.2 / 3)],
      [[END], -2],
    ]);
  });

  it("ends with its open beams at the greatest length, best first", () => {
    const group = groupOf({ maxTokens: 2, lengthPenalty: 0 });
    round(group, top([1, -1], [2, -2]));
    const end = round(group, top([3, -5], [4, -6]), top([3, -1], [4, -9]));
    expect(answers(end)).toEqual([
      [[2, 3], -3],
      [[1, 3], -6],
    ]);
    expect(end.dropped).toEqual(group.members);
  });

  it("gives no more answers than choices", () => {
    const group = groupOf({ maxTokens: 1, n: 1 });
    expect(answers(round(group, top([1, -1], [2, -2])))).toEqual([[[1], -1]]);
  });

  it("never takes what a rule forbids: it goes on with fewer beams, and ends where there is none", () => {
    const group = groupOf({ numBeams: 3, n: 3 });
    round(group, top([1, -1], [2, -3.4e38], [3, -3.4e38], [4, -3.4e38]));
    expect(outputs(group)).toEqual([[1]]);
    expect(answers(round(group, top([1, -3.4e38])))).toEqual([[[1], -1]]);
  });
});
