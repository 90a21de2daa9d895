import type { AppState } from "../../state/app/app-state.ts";
import type { Command } from "../../state/commands/commands.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { MAX_PANES } from "../../state/workspace/saved-workspace.ts";
import { saveAllChats, saveAsMarkdown } from "../save-chats.ts";

/** The commands of the current chat. */
export function paneCommands({
  workspace,
  promptView,
  keeper,
}: Pick<AppState, "workspace" | "promptView" | "keeper">): readonly Command[] {
  const panes = () => workspace.store.getState().panes;
  const current = () => panes().find(({ number }) => number === workspace.store.getState().current);
  const place = () => panes().findIndex((pane) => pane === current());

  const ofPane = (
    command: Omit<Command, "isEnabled" | "run" | "group">,
    isEnabled: (pane: Pane) => boolean,
    run: (pane: Pane) => void,
  ): Command => ({
    ...command,
    group: "Chats",
    isEnabled: () => {
      const pane = current();
      return pane !== undefined && isEnabled(pane);
    },
    run: () => {
      const pane = current();
      if (pane) run(pane);
    },
  });
  const lastTurn = (pane: Pane) => pane.store.getState().turns.at(-1);
  const isIdle = (pane: Pane) => pane.store.getState().phase === "idle";
  const hasTurns = (pane: Pane) => lastTurn(pane) !== undefined;
  const hasRoom = () => panes().length < MAX_PANES;

  return [
    ofPane(
      { id: "pane.again", title: "Regenerate the last answer", words: "again retry" },
      (pane) => isIdle(pane) && hasTurns(pane),
      (pane) => pane.regenerate(),
    ),
    ofPane(
      { id: "pane.continue", title: "Continue this answer", words: "go on length" },
      (pane) => pane.canContinueAnswer,
      (pane) => pane.continueAnswer(),
    ),
    ofPane(
      {
        id: "pane.duplicate",
        title: "Duplicate this pane",
        words: "copy fork compare settings seeds side by side difference",
      },
      hasRoom,
      (pane) => void workspace.duplicatePane(pane),
    ),
    ofPane(
      { id: "pane.left", title: "Move this pane left", words: "order" },
      () => place() > 0,
      (pane) => workspace.movePane(pane, -1),
    ),
    ofPane(
      { id: "pane.right", title: "Move this pane right", words: "order" },
      () => place() < panes().length - 1,
      (pane) => workspace.movePane(pane, 1),
    ),
    ofPane(
      { id: "pane.prompt", title: "Show this chat's prompt", words: "template tokens sent" },
      (pane) => hasTurns(pane) && pane.asking.getState().showsPrompt,
      (pane) => void promptView.show(pane),
    ),
    ofPane({ id: "pane.clear", title: "Clear this chat", words: "empty delete" }, hasTurns, (pane) =>
      workspace.clearPane(pane),
    ),
    ofPane(
      { id: "pane.markdown", title: "Save this chat as Markdown", words: "export file" },
      hasTurns,
      (pane) => void saveAsMarkdown(pane),
    ),
    {
      id: "panes.export",
      title: "Export all chats",
      group: "Data",
      words: "save json file",
      run: () => void saveAllChats({ workspace, keeper }),
    },
  ];
}
