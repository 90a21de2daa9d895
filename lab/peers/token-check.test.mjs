import { expect, it } from "vitest";

import { checkTokens } from "./token-check.ts";

it("finds where answers part from the reference, in what both have", () => {
  const reference = [
    [1, 2, 3, 4, 5],
    [6, 7, 8, 9, 10],
    [11, 12, 13, 14, 15],
  ];
  expect(
    checkTokens(reference, [
      [1, 2, 3],
      [6, 0, 8],
      [11, 12, 13],
    ]),
  ).toEqual({
    tokensEach: 3,
    answers: 3,
    sameAnswers: 2,
    firstDifferences: [1],
  });
});

it("compares each answer to its own end", () => {
  const reference = [
    [1, 2, 3],
    [4, 5, 6],
  ];
  expect(checkTokens(reference, [[1], [4, 5, 0]])).toEqual({
    tokensEach: 3,
    answers: 2,
    sameAnswers: 1,
    firstDifferences: [2],
  });
});

it("counts a token that is the reference's again, after one that was not, for nothing", () => {
  expect(checkTokens([[1, 2, 3]], [[9, 2, 3]])).toMatchObject({ sameAnswers: 0, firstDifferences: [0] });
});
