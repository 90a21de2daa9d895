import { expect, it } from "vitest";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { Differences } from "./differences.ts";

/** Panes that were asked; their answers have three words, of which the second is the number of the answer. */
async function asked(...questions: readonly string[]) {
  let numAnswers = 0;
  const { control, step, openPane } = openPanes({ answer: () => `It ${++numAnswers} so` });
  await control.start();
  const panes = questions.map((question, index) => {
    const pane = openPane(index + 1);
    pane.send(question);
    return pane;
  });
  const differences = new Differences();
  const found = () => panes.map((pane) => differences.store.getState().get(pane) ?? null);
  const tick = () => differences.tick(panes);
  return { panes, step, found, tick, differences };
}

it("marks the first word that differs among panes that were asked the same", async () => {
  const { step, found, tick, differences } = await asked("Is it?", "Why?", "Is it?");
  await step(1);
  tick();
  expect(found()).toEqual([null, null, null]); // "It" may still grow
  await step(3);
  tick();
  expect(found()).toEqual([
    { turnId: 0, other: 3, numSame: 1, at: 2, words: ["1", "3"] },
    null,
    { turnId: 0, other: 1, numSame: 1, at: 2, words: ["3", "1"] },
  ]);
  const before = differences.store.getState();
  tick();
  expect(differences.store.getState()).toBe(before); // nothing is rendered again
});

it("forgets a difference when another question is asked, or the answer is regenerated", async () => {
  const { panes, step, found, tick } = await asked("Is it?", "Is it?");
  await step(4);
  tick();
  expect(found().map((each) => each?.words)).toEqual([
    ["1", "2"],
    ["2", "1"],
  ]);
  panes[0]?.regenerate();
  tick();
  expect(found()).toEqual([null, null]);
  await step(4);
  tick();
  expect(found().map((each) => each?.words)).toEqual([
    ["3", "2"],
    ["2", "3"],
  ]);
  panes[1]?.send("Why?");
  tick();
  expect(found()).toEqual([null, null]);
});
