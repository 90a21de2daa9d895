import { expect, it } from "vitest";
import { lastTurn, openPanes } from "../../../../tests/app/open-panes.ts";
import { parseSavedWorkspace, savedWorkspace } from "../workspace/saved-workspace.ts";

/** A pane that asked for three answers of three words. The fake engine writes those after the first in capitals. */
async function ask(steps: number) {
  const opened = openPanes({ answer: () => "one two three" });
  await opened.control.start();
  const pane = opened.openPane(1);
  pane.set("n", 3);
  pane.send("Count.");
  await opened.step(steps);
  return { ...opened, pane };
}

it("grow side by side; the first one is the turn's until another is chosen", async () => {
  const { pane, first, step } = await ask(2);
  expect(first.accepted[0]).toMatchObject({ n: 3 });
  const growing = (answer: string) => ({ answer, end: null });
  expect(lastTurn(pane)).toMatchObject({
    answer: "one two",
    end: null,
    alternatives: { answers: [growing("one two"), growing("ONE TWO"), growing("ONE TWO")], chosen: 0 },
  });
  pane.chooseAnswer(1); // not while they grow
  expect(lastTurn(pane)).toMatchObject({ alternatives: { chosen: 0 } });
  await step(1);
  expect(lastTurn(pane)).toMatchObject({ answer: "one two three", end: "stop" });
  pane.chooseAnswer(2);
  expect(lastTurn(pane)).toMatchObject({ answer: "ONE TWO THREE", end: "stop", alternatives: { chosen: 2 } });
  pane.chooseAnswer(3);
  expect(lastTurn(pane)).toMatchObject({ alternatives: { chosen: 2 } });
});

it("the chat goes on with the chosen one", async () => {
  const { pane, first, step } = await ask(3);
  pane.chooseAnswer(1);
  pane.send("Again.");
  await step();
  expect(first.accepted[1]?.messages.map(({ content }) => content)).toEqual(["Count.", "ONE TWO THREE", "Again."]);
});

it("are stopped together, and the chosen one alone is continued", async () => {
  const { pane, first, step } = await ask(2);
  pane.stop();
  expect(lastTurn(pane)?.alternatives?.answers.map(({ end }) => end)).toEqual(["stopped", "stopped", "stopped"]);
  pane.chooseAnswer(1);
  pane.continueAnswer();
  await step(3);
  expect(first.accepted[1]).not.toHaveProperty("n");
  expect(lastTurn(pane)).not.toHaveProperty("alternatives");
  expect(lastTurn(pane)?.answer).toMatch(/^ONE TWO/);
});

it("are saved with the chat; those that had not ended are interrupted", async () => {
  const { pane, openPane } = await ask(2);
  const saved = () => savedWorkspace({ current: 1, shared: {}, panes: [{ number: 1, ...pane.toSaved() }] });
  const [read] = parseSavedWorkspace(JSON.parse(JSON.stringify(saved()))).panes;
  const reopened = openPane(2, read);
  expect(lastTurn(reopened)).toMatchObject({ answer: "one two", end: "interrupted" });
  expect(lastTurn(reopened)?.alternatives?.answers.map(({ end }) => end)).toEqual(Array(3).fill("interrupted"));

  const broken = JSON.parse(JSON.stringify(saved())) as { panes: { turns: { alternatives: { chosen: number } }[] }[] };
  const alternatives = broken.panes[0]?.turns[0]?.alternatives;
  if (alternatives) alternatives.chosen = 3;
  expect(() => parseSavedWorkspace(broken)).toThrow("panes[0].turns[0].alternatives.chosen must be a whole number");
});
