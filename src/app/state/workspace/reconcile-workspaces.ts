import {
  isBlank,
  parseSavedWorkspace,
  resumed,
  textOfChat,
  type SavedPane,
  type SavedWorkspace,
} from "./saved-workspace.ts";

/** keep: this tab's chats stay. restore: the other's replace them. add: the other's are opened beside them. */
type Reconciliation =
  | { readonly kind: "keep" }
  | { readonly kind: "restore"; readonly saved: SavedWorkspace }
  | { readonly kind: "add"; readonly chats: readonly SavedPane[] };

/**
 * Decides how the chats of two tabs are merged, so that none is lost.
 *
 * @param before the common earlier workspace of both tabs
 * @param here this tab's workspace
 * @param there the other tab's saved workspace; null for none
 * @param isBusy whether an answer is in progress here, which must not be stopped
 */
export function reconcile(
  before: SavedWorkspace,
  here: SavedWorkspace,
  there: SavedWorkspace | null,
  isBusy: boolean,
): Reconciliation {
  if (there === null || textOf(there) === textOf(before)) return { kind: "keep" };
  if (!isBusy && textOf(here) === textOf(before)) return { kind: "restore", saved: there };
  return { kind: "add", chats: unknownChats(plain(there).panes, [before, here]) };
}

/** Returns the chats that none of the workspaces has. */
export function unknownChats(chats: readonly SavedPane[], workspaces: readonly SavedWorkspace[]): readonly SavedPane[] {
  const known = new Set(workspaces.flatMap((workspace) => plain(workspace).panes).map(textOfChat));
  return chats.filter((chat) => !isBlank(chat) && !known.has(textOfChat(chat)));
}

/** Returns the chats as they would be loaded, so that equal chats compare equal, whichever tab saved them. */
function plain(workspace: SavedWorkspace): SavedWorkspace {
  const { panes, ...rest } = parseSavedWorkspace(workspace);
  return { ...rest, panes: panes.map(resumed) };
}

/** Returns the chats and settings as text. Which pane is in view doesn't count. */
function textOf(workspace: SavedWorkspace): string {
  const { shared, panes } = plain(workspace);
  return JSON.stringify([shared, panes]);
}
