// A copy of the edits whose save a closing page could not confirm. The browser may drop the last writes to IndexedDB of a
// closing page, and orders none of them before the next page's reads. localStorage is written at once. If the next page is in
// another process, as when the service worker isolates it on its first reload, a browser may still show it too late (Firefox
// sometimes does): then the page after that finds the copy. localStorage can be forbidden, and it is full at about 5 MB; then
// only IndexedDB has the last edits.

import { parseJson } from "../../../index.ts";
import type { ClosedChat } from "../history/closed-chat.ts";
import type { ChatMoves } from "../history/closed-chats.ts";
import { JsonReader } from "../json-reader.ts";
import { parseSavedChat, parseSavedWorkspace, type SavedWorkspace } from "./saved-workspace.ts";

export interface UnsavedCopy {
  /**
   * The saves that these panes go on from, by their ids; the last is their own. No others: another tab saved the chats, and
   * these were saved aside.
   */
  readonly saves: readonly string[];
  readonly workspace: SavedWorkspace;
  readonly moves: ChatMoves;
}

/** The used part of localStorage. */
export type CopyStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const PREFIX = "chorus.unsaved.";

/** Returns the storage of copies, or null if it is forbidden. */
export function copyStorage(): CopyStorage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** @param page the name of the closing page */
export function leaveCopy(storage: CopyStorage | null, page: string, { moves, ...copy }: UnsavedCopy): void {
  try {
    const text = JSON.stringify({ ...copy, closed: [...moves.closed.values()], gone: [...moves.gone] });
    storage?.setItem(PREFIX + page, text);
  } catch {
    // As above. An older copy would be mistaken for the last edits.
    dropCopy(storage, page);
  }
}

export function dropCopy(storage: CopyStorage | null, page: string): void {
  try {
    storage?.removeItem(PREFIX + page);
  } catch {
    // A failing storage has no copies either.
  }
}

/** Returns the copies that earlier pages left, by the pages' names. One that can't be read is dropped. */
export function copiesLeft(storage: CopyStorage | null): ReadonlyMap<string, UnsavedCopy> {
  const copies = new Map<string, UnsavedCopy>();
  const keys = Array.from({ length: storage?.length ?? 0 }, (_, index) => storage?.key(index) ?? "");
  for (const key of keys.filter((each) => each.startsWith(PREFIX))) {
    const page = key.slice(PREFIX.length);
    try {
      copies.set(page, parseCopy(storage?.getItem(key) ?? ""));
    } catch {
      dropCopy(storage, page);
    }
  }
  return copies;
}

/**
 * Decides how to use a copy. arrived: the page's own write was saved. newer: the copy replaces the saved panes. other: another
 * tab has saved since, so the copy's chats belong beside the saved ones.
 *
 * @param save id of the newest save
 * @param aside id of the page's save aside
 */
export function placeOfCopy({ saves }: UnsavedCopy, save: string, aside: string): "arrived" | "newer" | "other" {
  const own = saves.at(-1);
  if (own === save || own === aside) return "arrived";
  return saves.includes(save) ? "newer" : "other";
}

function parseCopy(text: string): UnsavedCopy {
  const parsed = parseJson(text);
  const root = new JsonReader(parsed);
  const closed = root.field("closed").list().map(parseClosedChat);
  return {
    saves: strings(root.field("saves")),
    workspace: parseSavedWorkspace((parsed as UnsavedCopy).workspace),
    moves: { closed: new Map(closed.map((chat) => [chat.key, chat])), gone: new Set(strings(root.field("gone"))) },
  };
}

function parseClosedChat(closed: JsonReader): ClosedChat {
  return {
    key: closed.field("key").string(),
    chat: parseSavedChat(closed.field("chat")),
    closedMs: closed.field("closedMs").integer(0, Number.MAX_SAFE_INTEGER),
  };
}

function strings(list: JsonReader): readonly string[] {
  return list.list().map((each) => each.string());
}
