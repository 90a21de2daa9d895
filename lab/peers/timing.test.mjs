import { describe, expect, it } from "vitest";

import { timingOf } from "./timing.ts";

const answer = (/** @type {number} */ startMs, /** @type {number[]} */ ...timesMs) => ({
  startMs,
  arrivals: timesMs.map((atMs, i) => ({ atMs, tokens: i + 1 })),
  tokenIds: [],
});

describe("timing", () => {
  it("counts decoded tokens of all sequences from the first token of any to the last of all", () => {
    const timing = timingOf([answer(100, 200, 300, 400), answer(100, 600, 700, 1100)]);
    expect(timing.decodeTokensPerSecond).toBeCloseTo(4 / 0.9);
    expect(timing.tokensPerSecond).toBeCloseTo(6 / 1);
    expect(timing.meanTtftMs).toBe(300);
    expect(timing.lastTtftMs).toBe(500);
  });

  it("takes tokens that come several at a time for as many as they are", () => {
    const { decodeTokensPerSecond, tokensPerSecond } = timingOf([
      {
        startMs: 0,
        tokenIds: [],
        arrivals: [
          { atMs: 500, tokens: 3 },
          { atMs: 1000, tokens: 8 },
        ],
      },
    ]);
    expect(decodeTokensPerSecond).toBe(10);
    expect(tokensPerSecond).toBe(8);
  });
});
