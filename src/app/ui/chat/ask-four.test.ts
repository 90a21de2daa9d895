import { expect, it } from "vitest";
import { MAX_PANES } from "../../state/workspace/saved-workspace.ts";
import { Workspace } from "../../state/workspace/workspace.ts";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { askFour } from "./ask-four.ts";

async function setUp({ chat = true } = {}) {
  const { control, context, step } = openPanes({ model: { chat } });
  await control.start();
  const workspace = new Workspace(context);
  const questions = () => workspace.store.getState().panes.map(({ store }) => store.getState().turns[0]?.question);
  return { workspace, questions, step, ask: () => askFour(workspace) };
}

it("asks four panes at once, beside the chats that there are", async () => {
  const { workspace, questions, ask } = await setUp();
  const [own] = workspace.store.getState().panes;
  own?.send("My own question");
  workspace.addPane()?.setDraft("My draft");
  expect(ask().map(({ number }) => number)).toEqual([3, 4, 5, 6]);
  expect(questions()).toEqual([
    "My own question",
    undefined,
    "Tell me a story about a purple octopus",
    "What is the capital of Canada?",
    "Why is the sky blue?",
    "Tell me a joke",
  ]);
});

it("leaves chats alone whose answer has ended", async () => {
  const { workspace, questions, ask, step } = await setUp();
  const [own] = workspace.store.getState().panes;
  own?.send("My own question");
  await step(40);
  expect(own?.store.getState()).toMatchObject({ phase: "idle", turns: [{ question: "My own question" }] });
  expect(ask()[0]?.number).toBe(2);
  expect(questions()).toHaveLength(5);
  expect(own?.store.getState().turns).toHaveLength(1);
});

it("begins four texts where the model continues texts", async () => {
  const { questions, ask } = await setUp({ chat: false });
  ask();
  expect(questions()[1]).toBe("The capital of Canada is");
});

it("asks as many as there is room for, or none", async () => {
  const { workspace, ask } = await setUp();
  for (let i = 1; i < MAX_PANES; i++) workspace.addPane();
  const { panes } = workspace.store.getState();
  for (const pane of panes.slice(1)) pane.send("Hi");
  expect(ask()).toEqual([panes[0]]);
  expect(ask()).toEqual([]);
});
