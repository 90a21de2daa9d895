import { expect, it, vi } from "vitest";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import { Workspace } from "../../state/workspace/workspace.ts";
import { promptCommands } from "./prompt-commands.ts";

it("saves the current draft, inserts a prompt before what is written, and deletes it, which can be undone", () => {
  const focus = vi.fn<() => void>();
  const workspace = new Workspace(openPanes().context);
  const prompts = new SavedPrompts();
  const saved = () => prompts.store.getState();
  const enabled = () =>
    promptCommands(workspace, prompts, saved(), focus).filter(({ isEnabled }) => isEnabled?.() ?? true);
  const titles = () => enabled().map(({ title }) => title);
  const run = (title: string) =>
    enabled()
      .find((command) => command.title === title)
      ?.run();
  const [pane] = workspace.store.getState().panes;

  expect(titles()).toEqual([]);
  pane?.setDraft(" Say it\nin French. ");
  run("Save this draft as a prompt");
  expect(titles()).toEqual(["Insert prompt: Say it in French.", "Delete prompt: Say it in French."]);
  run("Insert prompt: Say it in French.");
  expect(pane?.store.getState().draft).toBe("Say it\nin French.");
  pane?.setDraft("Good day");
  run("Insert prompt: Say it in French.");
  expect(pane?.store.getState().draft).toBe("Say it\nin French.\nGood day");
  run("Delete prompt: Say it in French.");
  expect(saved()).toEqual([]);
  workspace.undoList.undo();
  expect(saved()).toEqual(["Say it\nin French."]);
  expect(focus).toHaveBeenCalledTimes(2);
});
