import { expect, test } from "vitest";

import { createDemoView, wrap } from "./demo-view.mjs";

/** @returns {{ text: string, write: (more: string) => void }} */
const createOutput = () => ({
  text: "",
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

test("each word of an answer is printed once, in whole lines", () => {
  const output = createOutput();
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
