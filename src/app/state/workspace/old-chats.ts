// Converts what the version before has stored: all panes in one record, those of further tabs in records of their own, closed
// chats in two stores. It stays as it is, for tabs of that version that are still open. What they save later is found by the
// next start, by names of texts: a chat's id with a hash. This file and the old stores can go with the next version.

import { promisifyRequest } from "idb-keyval";
import { JsonReader } from "../json-reader.ts";
import type { Settings } from "../settings/settings.ts";
import { strings, type Change, type Place, type Save } from "./chat-record.ts";
import { CHATS_STORE, OLD_CLOSED_STORE, OLD_SUMMARIES_STORE } from "./chats-database.ts";
import { isBlank, parseSavedChat, parseSavedWorkspace, textOfChat, type SavedWorkspace } from "./saved-workspace.ts";
import { readCopies, type CopyStorage } from "./unsaved-copy.ts";

const MAIN = "workspace";
const ASIDE = "workspace-of-";
/** Keys of all old records of panes, those that could not be read among them. */
const OLD_RECORDS = [MAIN, `${MAIN}\uffff`] as const;
/** The names of what is converted. */
export const CONVERTED = "converted";
/** Names of the copies that closing pages left, before those of the pages. */
export const OLD_COPIES = "chorus.unsaved.";

/** A copy of unsaved panes that a closing page left. */
export interface OldCopy {
  /** The saves that it goes on from, by their ids; the last is its own. None but its own: another tab saved the chats. */
  readonly saves: readonly string[];
  readonly workspace: SavedWorkspace;
  readonly closed: readonly OldClosedChat[];
  /** Keys of closed chats that were opened or deleted. */
  readonly gone: readonly string[];
}
interface OldClosedChat {
  readonly key: string;
  readonly chat: ReturnType<typeof parseSavedChat>;
  readonly closedMs: number;
}

/** What to take over. */
export interface OldChats {
  readonly changes: readonly Change[];
  /** The ids of chats that were in panes. */
  readonly open: readonly string[];
  /** The list of panes and the settings, if the panes' record can be read. */
  readonly main: (Pick<Save, "places" | "current"> & { readonly shared: Settings }) | null;
  /** Whether a record can't be read. */
  readonly isDamaged: boolean;
  /** To be stored as CONVERTED. */
  readonly converted: { readonly saves: readonly string[]; readonly texts: readonly string[] };
}

/** Reads the copies that pages of the version before left. */
export function oldCopies(storage: CopyStorage | null): ReadonlyMap<string, OldCopy> {
  return readCopies(storage, OLD_COPIES, (root) => ({
    saves: strings(root.field("saves")),
    workspace: parseSavedWorkspace(root.field("workspace").object()),
    closed: root
      .field("closed")
      .list()
      .map((closed) => ({
        key: closed.field("key").string(),
        chat: parseSavedChat(closed.field("chat")),
        closedMs: closed.field("closedMs").integer(0, Number.MAX_SAFE_INTEGER),
      })),
    gone: strings(root.field("gone")),
  }));
}

/**
 * Returns what of the old chats is not converted yet; null if nothing was saved since. A transaction that can't write leaves
 * it unread: there may be thousands.
 */
export async function readOldChats(
  transaction: IDBTransaction,
  copies: ReadonlyMap<string, OldCopy>,
): Promise<OldChats | "unread" | null> {
  const store = transaction.objectStore(CHATS_STORE);
  const range = IDBKeyRange.bound(...OLD_RECORDS);
  const [marker, keys, records] = await Promise.all([
    promisifyRequest<unknown>(store.get(CONVERTED)),
    promisifyRequest(store.getAllKeys(range)) as Promise<string[]>,
    promisifyRequest<unknown[]>(store.getAll(range)),
  ]);
  const before = readMarker(marker);
  const saves = keys.map((key, index) => `${key} ${saveIdOf(records[index])}`);
  const isNew = saves.some((save) => !before.saves.includes(save));
  if (!isNew && copies.size === 0) return null;
  if (transaction.mode === "readonly") return "unread";

  const panes = new Map(keys.map((key, index) => [key, readWorkspace(records[index])] as const));
  const isDamaged = keys.some((key, index) => panes.get(key) === null && !before.saves.includes(saves[index] ?? ""));
  const closed = await readClosed(transaction);
  const texts = new Set(before.texts);
  const changes: Change[] = [];
  /**
   * Takes over chats whose text is not known.
   * @param earlier the record of panes whose earlier texts they replace
   * @param source the record of panes that has them: it has one copy of each chat
   */
  const take = (chats: readonly OldClosedChat[], earlier: string | null, source = "") => {
    for (const { key, chat, closedMs } of chats) {
      const { id = key } = chat;
      const text = `${id}-${hash(textOfChat(chat))}`;
      if (isBlank(chat) || texts.has(text)) continue;
      const known = earlier === null ? [] : [...texts].filter((each) => each.startsWith(`${id}-`));
      const from = known.map((each) => earlier + each);
      const copyId = source ? `${source}-${id}` : text;
      changes.push({ id, chat, from, revision: source + text, copyId, savedMs: closedMs });
      texts.add(text);
    }
  };
  const saveOf = (key: string) => saveIdOf(records[keys.indexOf(key)]);
  const mainSave = saveOf(MAIN);
  take(chatsOf(MAIN, panes.get(MAIN)), MAIN, MAIN);
  for (const [page, copy] of copies) {
    const own = copy.saves.at(-1);
    if (own === mainSave || own === saveOf(ASIDE + page)) continue;
    const isNewer = copy.saves.includes(mainSave);
    const name = isNewer ? MAIN : ASIDE + page;
    panes.set(name, copy.workspace);
    const earlier = isNewer ? MAIN : null;
    take(chatsOf(name, copy.workspace), earlier);
    take(copy.closed, earlier);
    for (const key of copy.gone) closed.delete(key);
  }
  for (const [key, workspace] of panes) take(chatsOf(key, workspace), key, key);
  take(
    [...closed.values()].filter((chat) => chat !== null),
    null,
  );
  const main = panes.get(MAIN);
  return {
    changes,
    open: [...panes].flatMap(([key, workspace]) => chatsOf(key, workspace).map(({ chat }) => chat.id ?? key)),
    main: main ? { ...listOf(main), shared: main.shared } : null,
    isDamaged: isDamaged || [...closed.values()].includes(null),
    converted: { saves: [...new Set([...before.saves, ...saves])], texts: [...texts] },
  };
}

/** Returns the old records that can't be read, as they are stored. */
export async function readOldDamaged(transaction: IDBTransaction): Promise<readonly unknown[]> {
  const store = transaction.objectStore(CHATS_STORE);
  const [records, closed] = await Promise.all([
    promisifyRequest<unknown[]>(store.getAll(IDBKeyRange.bound(...OLD_RECORDS))),
    promisifyRequest<unknown[]>(transaction.objectStore(OLD_CLOSED_STORE).getAll()),
  ]);
  return [
    ...records.filter((record) => readWorkspace(record) === null),
    ...closed.filter((record) => readClosedChat(record) === null),
  ];
}

function readMarker(marker: unknown): OldChats["converted"] {
  try {
    const root = new JsonReader(marker);
    return { saves: strings(root.field("saves")), texts: strings(root.field("texts")) };
  } catch {
    return { saves: [], texts: [] };
  }
}

function readWorkspace(record: unknown): SavedWorkspace | null {
  try {
    return parseSavedWorkspace(record);
  } catch {
    return null;
  }
}

/** Returns the panes' chats. Those of very old records have no ids. */
function chatsOf(key: string, workspace: Pick<SavedWorkspace, "panes"> | null | undefined): readonly OldClosedChat[] {
  return (workspace?.panes ?? []).map(({ number, id = `${key}-${number}`, ...chat }) => {
    const named = { ...chat, id };
    return { key: id, chat: named, closedMs: chat.askedMs ?? Date.now() };
  });
}

function listOf({ panes, current }: SavedWorkspace): Pick<Save, "places" | "current"> {
  const places = chatsOf(MAIN, { panes }).map(({ key, chat }, index): Place => {
    const number = panes[index]?.number ?? 1;
    return { number, id: key, ...(isBlank(chat) && { blank: chat }) };
  });
  return { places, current };
}

/** Reads closed chats by their keys; null for one that can't be read. */
async function readClosed(transaction: IDBTransaction): Promise<Map<string, OldClosedChat | null>> {
  const store = transaction.objectStore(OLD_CLOSED_STORE);
  const [keys, records, summaries] = await Promise.all([
    promisifyRequest(store.getAllKeys()) as Promise<string[]>,
    promisifyRequest<unknown[]>(store.getAll()),
    promisifyRequest<{ key: string; dateMs: number }[]>(transaction.objectStore(OLD_SUMMARIES_STORE).getAll()),
  ]);
  const dates = new Map(summaries.map(({ key, dateMs }) => [key, dateMs]));
  return new Map(
    keys.map((key, index) => {
      const chat = readClosedChat(records[index]);
      return [key, chat && { key, chat, closedMs: dates.get(key) ?? chat.askedMs ?? Date.now() }];
    }),
  );
}

function readClosedChat(record: unknown): OldClosedChat["chat"] | null {
  try {
    return parseSavedChat(new JsonReader(record).field("chat"));
  } catch {
    return null;
  }
}

function saveIdOf(record: unknown): string {
  const id: unknown = typeof record === "object" && record !== null && "save" in record ? record.save : "";
  return typeof id === "string" ? id : "";
}

/** FNV-1a of 32 bits. */
function hash(text: string): string {
  let bits = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) bits = Math.imul(bits ^ text.charCodeAt(index), 0x01000193);
  return (bits >>> 0).toString(36);
}
