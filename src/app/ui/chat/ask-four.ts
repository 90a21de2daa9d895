import type { Pane } from "../../state/chat/pane.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";
import { BEGINNINGS, STARTERS } from "./starters.ts";

/**
 * Asks four panes a question each, all at once: empty ones, opened if necessary. Returns the asked panes: fewer if there is no
 * room for four, none if all panes have chats and no more can be opened.
 */
export function askFour(workspace: Workspace): readonly Pane[] {
  const unused = () => workspace.store.getState().panes.filter(isUnused);
  while (unused().length < STARTERS.length && workspace.addPane() !== null);
  const panes = unused().slice(0, STARTERS.length);
  for (const [index, pane] of panes.entries()) {
    const { continuesText } = pane.asking.getState();
    pane.send((continuesText ? BEGINNINGS : STARTERS)[index] ?? "");
  }
  return panes;
}

function isUnused({ store, asking }: Pane): boolean {
  const { turns, draft, phase } = store.getState();
  return turns.length === 0 && draft.trim() === "" && phase === "idle" && !asking.getState().isRemote;
}
