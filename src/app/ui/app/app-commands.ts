import { flushSync } from "react-dom";
import { BACKEND_CHOICES } from "../../../index.ts";
import type { AppState } from "../../state/app/app-state.ts";
import type { Command } from "../../state/commands/commands.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { Theme } from "../../state/app/theme.ts";
import { MAX_PANES } from "../../state/workspace/workspace.ts";
import { focusMessageOf } from "../chat/Composer.tsx";
import { BACKEND_NAMES } from "../engine/BackendPicker.tsx";

/** The commands that are always there. Components register their own with useCommands. */
export function appCommands(
  { workspace, engine }: Pick<AppState, "workspace" | "engine">,
  theme: Theme,
): readonly Command[] {
  const panes = () => workspace.store.getState().panes;
  const current = () => panes().find(({ number }) => number === workspace.store.getState().current);
  const isBusy = (pane: Pane | undefined) => pane !== undefined && pane.store.getState().phase !== "idle";
  const hasSeveral = () => panes().length > 1;
  const newestUndoable = () => workspace.undoList.store.getState().undoables.at(-1);

  /** Renders the pane before focusing its box: on a phone it was not in the page. */
  const goTo = (find: () => Pane | null | undefined) => {
    const pane = flushSync(() => {
      const found = find();
      if (found) workspace.select(found.number);
      return found;
    });
    if (pane) focusMessageOf(pane);
  };
  const neighbour = (steps: number) =>
    panes().at((panes().findIndex((pane) => pane === current()) + steps) % panes().length);

  return [
    {
      id: "pane.add",
      title: "Add a pane",
      group: "Chats",
      keys: "Alt+N",
      words: "new chat open",
      isEnabled: () => panes().length < MAX_PANES,
      run: () => goTo(() => workspace.addPane()),
    },
    {
      id: "pane.close",
      title: "Close this pane",
      group: "Chats",
      keys: "Alt+W",
      isEnabled: () => current() !== undefined,
      run: () => {
        const pane = current();
        if (pane) goTo(() => workspace.closePane(pane));
      },
    },
    {
      id: "undo",
      get title() {
        const newest = newestUndoable();
        return newest ? `Undo: ${newest.title}` : "Undo";
      },
      group: "Chats",
      keys: "Mod+Z",
      isTextFirst: true,
      words: "back restore closed cleared",
      isEnabled: () => newestUndoable() !== undefined,
      run: () => workspace.undoList.undo(),
    },
    {
      id: "pane.next",
      title: "Go to the next pane",
      group: "Chats",
      keys: "Alt+ArrowDown",
      isEnabled: hasSeveral,
      run: () => goTo(() => neighbour(1)),
    },
    {
      id: "pane.previous",
      title: "Go to the previous pane",
      group: "Chats",
      keys: "Alt+ArrowUp",
      isEnabled: hasSeveral,
      run: () => goTo(() => neighbour(-1)),
    },
    {
      id: "pane.stop",
      title: "Stop this answer",
      group: "Chats",
      keys: "Escape",
      isEnabled: () => isBusy(current()),
      run: () => current()?.stop(),
    },
    {
      id: "panes.stop",
      title: "Stop all answers",
      group: "Chats",
      keys: "Mod+.",
      isEnabled: () => panes().some(isBusy),
      run: () => {
        for (const pane of panes()) pane.stop();
      },
    },
    {
      id: "page.demo",
      title: "Run the demo",
      group: "Pages",
      words: "eight at once compare",
      run: () => location.assign("#/demo"),
    },
    {
      id: "page.bench",
      title: "Open the benchmark",
      group: "Pages",
      words: "measure speed",
      run: () => location.assign("#/bench"),
    },
    {
      id: "page.player",
      title: "Open the player",
      group: "Pages",
      words: "recording replay file",
      run: () => location.assign("#/player"),
    },
    {
      id: "engine.start",
      title: "Restart the engine",
      group: "Batch",
      isEnabled: () => ["failed", "dead", "unsupported"].includes(engine.store.getState().status),
      run: () => void engine.start(),
    },
    ...BACKEND_CHOICES.map((choice): Command => ({
      id: `backend.${choice}`,
      title: `Run on: ${BACKEND_NAMES[choice]}`,
      group: "Batch",
      words: "backend webgpu wasm processor graphics",
      isEnabled: () => engine.backend.getState() !== choice,
      run: () => void engine.useBackend(choice),
    })),
    ...(["system", "light", "dark"] as const).map((choice): Command => ({
      id: `theme.${choice}`,
      title: choice === "system" ? "Light or dark, like the system" : `${choice === "dark" ? "Dark" : "Light"} theme`,
      group: "Appearance",
      words: "theme colour appearance mode",
      isEnabled: () => theme.store.getState() !== choice,
      run: () => theme.choose(choice),
    })),
  ];
}
