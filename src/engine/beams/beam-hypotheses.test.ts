// The rules of Hugging Face's BeamHypotheses, each by a case of its own.
import { expect, it } from "vitest";
import { BeamHypotheses } from "./beam-hypotheses.ts";
import type { BeamSearchParams } from "../sampling/sampling-params.ts";

const MAX_TOKENS = 10;

const hypotheses = (changes: Partial<BeamSearchParams> = {}) =>
  new BeamHypotheses({ numBeams: 2, lengthPenalty: 1, earlyStopping: false, ...changes }, MAX_TOKENS);

/** So many tokens; the first is its name. */
const tokens = (name: number, length: number) =>
  Array.from({ length }, (_, i) => ({ tokenId: i === 0 ? name : 0, logprob: -1 }));

const namesAndScores = (kept: BeamHypotheses, count = 2) =>
  kept.best(count).map(({ tokens: [first], score }) => [first?.tokenId, score]);

it.each([
  [1, -1.5],
  [0, -6],
  [2, -6 / 16],
  [-1, -24],
])("length penalty %d divides by the generated length to that power", (lengthPenalty, score) => {
  const kept = hypotheses({ lengthPenalty });
  kept.add(tokens(1, 4), -6);
  expect(namesAndScores(kept)).toEqual([[1, score]]);
});

it("keeps as many as there are beams: only what is better than the worst takes its place", () => {
  const kept = hypotheses();
  kept.add(tokens(1, 1), -3);
  kept.add(tokens(2, 1), -2);
  kept.add(tokens(3, 1), -3); // equal to the worst
  expect(namesAndScores(kept)).toEqual([
    [2, -2],
    [1, -3],
  ]);
  kept.add(tokens(4, 1), -1);
  expect(namesAndScores(kept)).toEqual([
    [4, -1],
    [2, -2],
  ]);
});

it("drops the first of two equally bad ones, and tells the last of equals first", () => {
  const kept = hypotheses();
  kept.add(tokens(1, 1), -3);
  kept.add(tokens(2, 1), -3);
  expect(namesAndScores(kept)).toEqual([
    [2, -3],
    [1, -3],
  ]);
  kept.add(tokens(3, 1), -1);
  expect(namesAndScores(kept)).toEqual([
    [3, -1],
    [2, -3],
  ]);
});

function full(changes: Partial<BeamSearchParams>): BeamHypotheses {
  const kept = hypotheses(changes);
  kept.add(tokens(1, 2), -2); // scores -1 with a penalty of 1
  kept.add(tokens(2, 2), -3);
  return kept;
}

it("is never done with fewer than there are beams", () => {
  const kept = hypotheses({ earlyStopping: true });
  kept.add(tokens(1, 1), -1);
  expect(kept.isDone(-1000, 5)).toBe(false);
});

it.each<[BeamSearchParams["earlyStopping"], number, number, number, boolean]>([
  // early stopping, length penalty, best sum, length: done?
  [true, 1, -0.1, 3, true],
  [false, 1, -6, 4, true], // -6 / 4 is no better than -1.5
  [false, 1, -5.9, 4, false],
  ["never", 1, -6, 4, false], // it could come to -6 / 10
  ["never", 1, -15, 4, true],
  ["never", 0, -3, 4, true], // length is no help
  ["never", -1, -1.4, 4, false], // -1.4 * 4 against -3 * 2
  ["never", -1, -1.5, 4, true],
])(
  "early stopping %j with penalty %d, best open %d at %d tokens: %s",
  (earlyStopping, lengthPenalty, sum, length, is) => {
    expect(full({ earlyStopping, lengthPenalty }).isDone(sum, length)).toBe(is);
  },
);
