// A copy of what a page could not see saved before it went. The browser may drop the last writes to IndexedDB of a page that
// goes, and it orders none of them before what the next page reads. localStorage is written at once. The tab's sessionStorage
// would do, but Firefox hands that to another process too early, as when the service worker isolates a page on its first
// reload. It can be forbidden, and it is full at about 5 MB; then only IndexedDB has the last edits.

import type { ClosedChat } from "../history/closed-chat.ts";
import type { ChatMoves } from "../history/closed-chats.ts";
import { JsonReader } from "../json-reader.ts";
import { parseSavedChat, parseSavedWorkspace, type SavedWorkspace } from "./saved-workspace.ts";

export interface UnsavedCopy {
  /**
   * The saves that these panes go on from, by their ids; the last is their own. None: another tab saved the chats, and these
   * were saved aside.
   */
  readonly saves: readonly string[];
  readonly workspace: SavedWorkspace;
  readonly moves: ChatMoves;
}

/** What is used of localStorage. */
export type CopyStorage = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

const PREFIX = "chorus.unsaved.";

/** Returns the storage of copies, or null where it is forbidden. */
export function copyStorage(): CopyStorage | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** @param page the name of the page that goes */
export function leaveCopy(storage: CopyStorage | null, page: string, { moves, ...copy }: UnsavedCopy): void {
  const text = JSON.stringify({ ...copy, closed: [...moves.closed.values()], gone: [...moves.gone] });
  try {
    storage?.setItem(PREFIX + page, text);
  } catch {
    // As said above.
  }
}

export function dropCopy(storage: CopyStorage | null, page: string): void {
  storage?.removeItem(PREFIX + page);
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
 * Decides what becomes of a copy. arrived: the page's own write did. newer: it replaces the saved panes. other: another tab
 * has saved since, so its chats belong beside the saved ones.
 *
 * @param save id of the newest save
 */
export function placeOfCopy({ saves }: UnsavedCopy, save: string): "arrived" | "newer" | "other" {
  if (saves.at(-1) === save) return "arrived";
  return saves.includes(save) ? "newer" : "other";
}

function parseCopy(text: string): UnsavedCopy {
  const parsed = JSON.parse(text) as unknown;
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
