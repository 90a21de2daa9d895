import { expect, test } from "vitest";

import { createDemoView, wrap } from "./demo-view.mjs";

/** @returns {{ text: string, columns: number, isTTY: boolean, write: (more: string) => void }} */
const createOutput = (/** @type {boolean} */ isTTY) => ({
  text: "",
  columns: 60,
  isTTY,
  write(more) {
    this.text += more;
  },
});

const story =
  "Once upon a time there was a fox who lived by the sea and never once in all of its life went for a swim.";
const answer = (/** @type {number} */ length, end = "") => ({ text: story.slice(0, length), end });

test("text is wrapped between words, and a longer word stands alone", () => {
  expect(wrap("a bb ccc\n\ndddddd e", 5)).toEqual(["a bb", "ccc", "dddddd", "e"]);
});

test("without a terminal, each word of an answer is printed once, in whole lines", () => {
  const output = createOutput(false);
  const view = createDemoView(["A fox?", "Rice?"], output);
  for (let length = 0; length < story.length; length += 7) {
    view.show({ answers: [answer(length), answer(0)], figures: { Running: "2" } });
  }
  view.show({ answers: [answer(story.length, "Finished"), answer(20, "Stopped")], figures: { Running: "0" } });
  const lines = output.text.split("\n");
  const words = lines.filter((line) => line.startsWith("Pane 1 | ")).map((line) => line.slice(9));
  expect(words.join(" ")).toBe(`${story} (Finished)`);
  expect(lines).toContain("Pane 2 | Once upon a time the");
  expect(lines).toContain("Batch  | Running 2");
});

test("a terminal is redrawn in place: as many lines up as were drawn before", () => {
  const output = createOutput(true);
  const view = createDemoView(["A fox?"], output);
  view.show({ answers: [answer(10)], figures: { Running: "1" } });
  const numLines = output.text.split("\n").length - 1;
  output.text = "";
  view.show({ answers: [answer(story.length)], figures: { Running: "1" } });
  expect(output.text.startsWith(`\x1b[${numLines}A\x1b[0J`)).toBe(true);
  expect(output.text.split("\n").length - 1).toBe(numLines);
  expect(output.text).toContain("went for a swim.");
});
