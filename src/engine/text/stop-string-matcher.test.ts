import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { StopStringMatcher } from "./stop-string-matcher.ts";

/** The shown text after each piece, and the stop string at the end. */
function feed(pieces: string[], stops: string[], includeStop = false) {
  const matcher = new StopStringMatcher(stops, includeStop);
  const shown: string[] = [];
  for (const piece of pieces) {
    const { text, stop } = matcher.push(piece);
    shown.push(text);
    if (stop !== null) return { shown, stop };
  }
  shown.push(matcher.flush());
  return { shown, stop: null };
}

describe("StopStringMatcher", () => {
  it("shows everything at once without stop strings", () => {
    expect(feed(["ab", "c"], [])).toEqual({ shown: ["ab", "c", ""], stop: null });
  });

  it("cuts the text before the stop string and drops what follows it", () => {
    expect(feed(["one END two"], ["END"])).toEqual({ shown: ["one "], stop: "END" });
  });

  it("cuts after it with includeStop", () => {
    expect(feed(["one END two"], ["END"], true)).toEqual({ shown: ["one END"], stop: "END" });
  });

  it("finds a stop string that is spread over pieces", () => {
    expect(feed(["a E", "N", "D b"], ["END"])).toEqual({ shown: ["a ", "", ""], stop: "END" });
  });

  it("holds back only what could still become a stop string", () => {
    expect(feed(["ab", "ax"], ["aba?"])).toEqual({ shown: ["", "abax", ""], stop: null });
    expect(feed(["xxa", "b"], ["abc"])).toEqual({ shown: ["xx", "", "ab"], stop: null });
  });

  it("lets go of a beginning that came to nothing, yet keeps the one inside it", () => {
    expect(feed(["aa", "ab"], ["aab"])).toEqual({ shown: ["", "a"], stop: "aab" });
  });

  it("shows at the end what was held back", () => {
    expect(feed(["yes EN"], ["END"])).toEqual({ shown: ["yes ", "EN"], stop: null });
  });

  it("takes the earliest of several", () => {
    expect(feed(["a.b!c"], ["!", "."])).toEqual({ shown: ["a"], stop: "." });
  });

  it("takes the one that is complete first where they overlap, and the longest where they end together", () => {
    expect(feed(["xabcd"], ["abcd", "bc"])).toEqual({ shown: ["xa"], stop: "bc" });
    expect(feed(["xabc"], ["bc", "abc"])).toEqual({ shown: ["x"], stop: "abc" });
  });

  it("gives the same however the text is cut into pieces", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 12 });
    const stops = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 }), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 6 }), stops, fc.boolean(), (pieces, stopStrings, includeStop) => {
        const cut = feed(pieces, stopStrings, includeStop);
        const letterByLetter = feed([...pieces.join("")], stopStrings, includeStop);
        const whole = feed([pieces.join("")], stopStrings, includeStop);
        const result = ({ shown, stop }: ReturnType<typeof feed>) => ({ text: shown.join(""), stop });
        expect(result(cut)).toEqual(result(whole));
        expect(result(letterByLetter)).toEqual(result(whole));
        if (whole.stop === null) expect(whole.shown.join("")).toBe(pieces.join(""));
      }),
      { numRuns: 500 },
    );
  });
});
