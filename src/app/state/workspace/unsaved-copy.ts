// A copy of the edits whose save a closing page could not confirm. The browser may drop the last writes to IndexedDB of a
// closing page, and orders none of them before the next page's reads. localStorage is written at once. If the next page is in
// another process, as when the service worker isolates it on its first reload, a browser may still show it too late (Firefox
// sometimes does): then the page after that finds the copy. localStorage can be forbidden, and it is full at about 5 MB; then
// only IndexedDB has the last edits. The list of a tab's panes is in its sessionStorage: other tabs have lists of their own.

import { parseJson } from "../../../index.ts";
import { attempt } from "../../attempt.ts";
import { readPaneList, type LeftSave, type PaneList } from "./chat-record.ts";

/** The used part of localStorage and sessionStorage. */
export type CopyStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const PREFIX = "chorus.left.";
const LIST = "chorus.panes";

/** Returns the page's storages; null for one that is forbidden. */
export function copyStorages(): { readonly copies: CopyStorage | null; readonly tab: CopyStorage | null } {
  return { copies: attempt(() => localStorage, null), tab: attempt(() => sessionStorage, null) };
}

/** Returns whether there was room. @param page the name of the closing page */
export function leaveCopy(storage: CopyStorage | null, page: string, save: LeftSave): boolean {
  const put = () => {
    storage?.setItem(PREFIX + page, JSON.stringify(save));
    return storage !== null;
  };
  const hasRoom = attempt(put, false);
  // As above. An older copy would be mistaken for the last edits.
  if (!hasRoom) dropCopy(storage, page);
  return hasRoom;
}

export function hasCopy(storage: CopyStorage | null, page: string): boolean {
  return attempt(() => storage?.getItem(PREFIX + page) ?? null, null) !== null;
}

/** A failing storage has no copies either. */
export function dropCopy(storage: CopyStorage | null, page: string): void {
  attempt(() => storage?.removeItem(PREFIX + page), null);
}

/** Returns the copies that earlier pages left, unchecked, by the pages' names. */
export function copiesLeft(storage: CopyStorage | null): ReadonlyMap<string, unknown> {
  const keysOf = () => Array.from({ length: storage?.length ?? 0 }, (_, index) => storage?.key(index) ?? "");
  const keys = attempt(keysOf, []).filter((key) => key.startsWith(PREFIX));
  return new Map(keys.map((key) => [key.slice(PREFIX.length), jsonIn(storage, key)]));
}

/** Keeps the list of this tab's panes. If it can't, the tab opens the list that was saved last. */
export function keepList(storage: CopyStorage | null, { places, current }: PaneList): void {
  attempt(() => storage?.setItem(LIST, JSON.stringify({ places, current })), null);
}

/** Returns the list of this tab's panes; null for a new tab. */
export function keptList(storage: CopyStorage | null): PaneList | null {
  return attempt(() => readPaneList(jsonIn(storage, LIST), ""), null);
}

/** Returns text that is no JSON as it is. */
function jsonIn(storage: CopyStorage | null, key: string): unknown {
  const text = attempt(() => storage?.getItem(key) ?? undefined, undefined);
  return attempt(() => parseJson(text ?? ""), text);
}
