import fc from "fast-check";
import { expect, test } from "vitest";
import { ReasoningSplitter, type ReasoningState } from "./reasoning-splitter.ts";

function split(start: ReasoningState, pieces: string[], keepsSpace = false) {
  const splitter = new ReasoningSplitter({ state: start, written: "" }, keepsSpace);
  const parts = pieces.map((piece, i) => splitter.push(piece, i === pieces.length - 1));
  return [parts.map(({ reasoning }) => reasoning).join(""), parts.map(({ content }) => content).join("")];
}

test.each<[ReasoningState, string, string, string]>([
  ["may open", "<think>\nHm.\n</think>\n\nYes.", "\nHm.\n", "Yes."],
  ["may open", "\n<think>Hm.</think>Yes.", "Hm.", "Yes."],
  ["may open", "Yes. <think>", "", "Yes. <think>"],
  ["may open", "  <thin", "", "  <thin"],
  ["may open", "<think>Hm. </thi", "Hm. </thi", ""],
  ["may open", " Yes.", "", " Yes."],
  ["open", "Hm.</think>Yes.</think>", "Hm.", "Yes.</think>"],
  ["open", "\n<think>Hm.</think> \nYes.", "Hm.", "Yes."],
  ["open", "\nHm. <think>", "\nHm. <think>", ""],
  ["closed", "\n\nYes. ", "", "Yes. "],
  ["none", "<think>Hm.</think>Yes.", "", "<think>Hm.</think>Yes."],
])("%s: %j", (start, text, reasoning, content) => {
  expect(split(start, [text])).toEqual([reasoning, content]);
  // However it is cut.
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length];
      const pieces = at.slice(1).map((end, i) => text.slice(at[i], end));
      expect(split(start, pieces)).toEqual([reasoning, content]);
    }),
  );
});

test("white space behind the thought is kept where a grammar may demand it", () => {
  expect(split("open", ["Hm.</think>", " ", "Yes."], true)).toEqual(["Hm.", " Yes."]);
});

test("what is sure to be neither tag nor part of one is given at once", () => {
  const splitter = new ReasoningSplitter({ state: "may open", written: "" });
  expect(splitter.push("<think>Well", false)).toEqual({ reasoning: "Well", content: "" });
  expect(splitter.push(", <b", false)).toEqual({ reasoning: ", <b", content: "" });
  expect(splitter.push("</th", false)).toEqual({ reasoning: "", content: "" });
  expect(splitter.push("ink>Yes", false)).toEqual({ reasoning: "", content: "Yes" });
});
