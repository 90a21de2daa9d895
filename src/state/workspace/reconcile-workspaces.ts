import {
  parseSavedWorkspace,
  resumed,
  type SavedChat,
  type SavedPane,
  type SavedWorkspace,
} from "./saved-workspace.ts";

/** keep: what is here counts. restore: what is there. add: both; these chats are there and not here. */
type Reconciliation =
  | { readonly kind: "keep" }
  | { readonly kind: "restore"; readonly saved: SavedWorkspace }
  | { readonly kind: "add"; readonly chats: readonly SavedPane[] };

/**
 * What becomes of the chats of two tabs, so that none is lost.
 *
 * @param before what both began with
 * @param here what this tab has made of it
 * @param there what the other has written; null: nothing
 * @param isBusy whether something is under way here that must not be broken off
 */
export function reconcile(
  before: SavedWorkspace,
  here: SavedWorkspace,
  there: SavedWorkspace | null,
  isBusy: boolean,
): Reconciliation {
  if (there === null || textOf(there) === textOf(before)) return { kind: "keep" };
  if (!isBusy && textOf(here) === textOf(before)) return { kind: "restore", saved: there };
  const known = new Set([...plain(before).panes, ...plain(here).panes].map(textOfChat));
  const chats = plain(there).panes.filter((chat) => !isBlank(chat) && !known.has(textOfChat(chat)));
  return { kind: "add", chats };
}

/** As it is read when it is taken up again: the same chats are the same in writing, whoever has written them. */
function plain(workspace: SavedWorkspace): SavedWorkspace {
  const { panes, ...rest } = parseSavedWorkspace(workspace);
  return { ...rest, panes: panes.map(resumed) };
}

/** Which pane is in view does not matter. */
function textOf(workspace: SavedWorkspace): string {
  const { shared, panes } = plain(workspace);
  return JSON.stringify([shared, panes]);
}

function textOfChat({ title, settings, turns, firstSent, draft }: SavedChat): string {
  return JSON.stringify([title, settings, turns, firstSent, draft]);
}

function isBlank({ title, turns, draft }: SavedChat): boolean {
  return title === null && turns.length === 0 && draft.trim() === "";
}
