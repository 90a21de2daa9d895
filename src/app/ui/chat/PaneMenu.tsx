import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { MAX_PANES } from "../../state/workspace/saved-workspace.ts";
import { Menu, type MenuItem } from "../components/Menu.tsx";
import { useStore } from "../use-store.ts";
import { saveAsMarkdown } from "../save-chats.ts";

interface PaneMenuProps {
  app: AppState;
  pane: Pane;
  /** Its index among the panes. */
  place: number;
  onRename: () => void;
}

/** The menu of a chat. */
export function PaneMenu({ app, pane, place, onRename }: PaneMenuProps) {
  const { workspace, announcements } = app;
  const numPanes = useStore(workspace.store, ({ panes }) => panes.length);
  const showsPrompt = useStore(pane.asking, (asking) => asking.showsPrompt);
  const isEmpty = useStore(pane.store, ({ turns }) => turns.length === 0);

  const move = (steps: number) => {
    workspace.movePane(pane, steps);
    announcements.announce(`Pane ${pane.number} is now number ${place + steps + 1} of ${numPanes}.`);
  };
  const items: readonly MenuItem[] = [
    { label: "Rename", run: onRename },
    { label: "Duplicate", isDisabled: numPanes >= MAX_PANES, run: () => workspace.duplicatePane(pane) },
    { label: "Move left", isDisabled: place === 0, run: () => move(-1) },
    { label: "Move right", isDisabled: place === numPanes - 1, run: () => move(1) },
    { label: "Show prompt", isDisabled: isEmpty || !showsPrompt, run: () => void app.promptView.show(pane) },
    { label: "Save as Markdown", isDisabled: isEmpty, run: () => void saveAsMarkdown(pane) },
    { label: "Clear chat", isDisabled: isEmpty, run: () => workspace.clearPane(pane) },
  ];
  return <Menu name={`More for pane ${pane.number}`} items={items} />;
}
