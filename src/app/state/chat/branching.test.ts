import { expect, it } from "vitest";
import { lastTurn, openPanes } from "../../../../tests/app/open-panes.ts";
import { Workspace } from "../workspace/workspace.ts";
import { canBranchWith } from "./branching.ts";

const count = { answer: () => "a b c d e f g h" };

it("goes on from a word with another one in a pane beside, from the very tokens, and tells what was computed", async () => {
  const { control, context, first, step } = openPanes(count);
  await control.start();
  const workspace = new Workspace(context);
  const pane = workspace.store.getState().panes[0]!;
  pane.set("show_probabilities", true);
  pane.send("Count.");
  await step(8);
  const [, other] = pane.memory.tokens.of(0)!.answer[2]!.likeliest;
  expect(other).toMatchObject({ text: " other1", id: 1 });
  const opened = workspace.branchPane(pane, 0, 2, other!)!;
  await step();
  expect(first.accepted.at(-1)).toMatchObject({
    continue_final_message: true,
    messages: [{ content: "Count." }, { role: "assistant", content: "a b other1" }],
    final_message_token_ids: [0, 0, 1],
  });
  expect(opened.store.getState()).toMatchObject({ settings: { show_probabilities: true }, phase: "streaming" });
  opened.refreshFigures();
  expect(opened.memory.branches.get(0)).toEqual({ word: " other1", cost: { promptTokens: 4, cachedTokens: 0 } });
  // What it went on from is as it was.
  expect(lastTurn(pane)?.answer).toBe("a b c d e f g h");
  expect(
    opened.memory.tokens
      .of(0)!
      .answer.slice(0, 3)
      .map(({ text }) => text),
  ).toEqual(["a", " b", " other1"]);
});

it("a pane whose closing is undone knows its answers' words, figures and branches as before", async () => {
  const { control, context, first, step } = openPanes(count);
  await control.start();
  const workspace = new Workspace(context);
  const pane = workspace.store.getState().panes[0]!;
  pane.send("Count.");
  await step(8);
  const [name] = first.accepted.map(({ request_id }) => request_id ?? "");
  workspace.closePane(pane);
  workspace.undoList.undo();
  const [again] = workspace.store.getState().panes;
  expect(again).not.toBe(pane);
  expect(again!.memory.tokens.of(0)!.answer).toHaveLength(8);
  expect(again!.memory.requestNames.has(name!)).toBe(true);
  expect(again!.memory.tokens.outputOf({ turnId: 0, token: 3 })).toEqual({ requestName: name, output: 3 });
  again!.refreshFigures();
  expect(again!.store.getState().figures).toMatchObject({ outputTokens: 8 });
});

it("can't go on with what has no text of its own", () => {
  const token = (text: string) => ({ id: 1, text, logprob: -1 });
  expect([" fox", "", "\ufffd"].map((text) => canBranchWith(token(text)))).toEqual([true, false, false]);
});
