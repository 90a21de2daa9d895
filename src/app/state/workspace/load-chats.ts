// Reads the chats of a tab's panes, and takes over what closed pages have left.

import { promisifyRequest } from "idb-keyval";
import { attempt } from "../../attempt.ts";
import { recordOf, text, type Read } from "../read-record.ts";
import {
  applyChanges,
  DAMAGED,
  readLeftSave,
  PANE_LIST,
  readRecord,
  type Change,
  type ChatRecord,
  type PaneList,
} from "./chat-record.ts";
import {
  asNewChat,
  readSettings,
  resumed,
  savedWorkspace,
  type SavedPane,
  type SavedWorkspace,
} from "./saved-workspace.ts";

/** Before the chats' ids. */
export const CHAT = "chat:";
export const ALL_CHATS = [CHAT, `${CHAT}\uffff`] as const;
/** The list of panes that was saved last. */
export const LIST = "panes";
/** The settings for all panes. */
export const SETTINGS = "settings";
/** Before the names of closed pages: what they left where localStorage had no room. */
export const LEFT = "left:";

/** Before the keys of lists, settings and copies that could not be read: others are saved under theirs. */
const ASIDE = "damaged:";
export const ALL_ASIDE = [ASIDE, `${ASIDE}\uffff`] as const;

/** No save was read. */
const NO_SAVE = "";

export interface LoadedChats {
  /** The panes of the tab; null if nothing is saved. */
  readonly saved: SavedWorkspace | null;
  /** Their records and those of `left`. */
  readonly records: readonly ChatRecord[];
  /** Chats of closed pages that are in none of the panes. */
  readonly left: readonly ChatRecord[];
  /** damaged: a record can't be read; it stays as it is. unavailable: nothing can be saved. */
  readonly status: "ok" | "damaged" | "unavailable";
}

/** The list that was saved last, with the id of its save. */
const readStoredList = recordOf({ ...PANE_LIST, save: text });

interface Sources {
  /** What closed pages left, unchecked, by their names. */
  readonly copies: ReadonlyMap<string, unknown>;
  /** The tab's own list; null for a new tab. */
  readonly list: PaneList | null;
}

/** Returns what is stored, and how to write what is new. @param store null where the database can't be read */
export async function loadChats(store: IDBObjectStore | null, sources: Sources) {
  const [list, settings, leftEntries, asideEntries] = store
    ? await Promise.all([
        promisifyRequest<unknown>(store.get(LIST)),
        promisifyRequest<unknown>(store.get(SETTINGS)),
        entriesOf(store, LEFT),
        entriesOf(store, ASIDE + LEFT),
      ])
    : [undefined, undefined, [], []];
  let isDamaged = false;
  const damaged: (readonly [key: string, value: unknown])[] = [];
  /** Returns what is read; else null, and notes the damage. */
  const tried = <Value>(key: string, value: unknown, read: Read<Value>): Value | null => {
    try {
      return value === undefined ? null : read(value, "");
    } catch {
      damaged.push([key, value]);
      isDamaged = true;
      return null;
    }
  };
  const fromStorage = [...sources.copies].map(([page, copy]) => tried(LEFT + page, copy, readLeftSave));
  const fromDatabase = [
    ...leftEntries.map(([key, one]) => [key, tried(key, one, readLeftSave)] as const),
    // An older page, kept in a cache, could not read what a newer one had left.
    ...asideEntries.map(([key, one]) => [key, attempt(() => readLeftSave(one, ""), null)] as const),
  ];
  const copies = [...fromStorage, ...fromDatabase.map(([, copy]) => copy)].filter((copy) => copy !== null);
  const stored = tried(LIST, list, readStoredList);
  let last = stored;
  let shared = tried(SETTINGS, settings, readSettings) ?? {};
  const changes = copies.flatMap((copy) => copy.changes);
  const open: string[] = [];
  for (const { saves, places, current, shared: settingsLeft } of copies) {
    const save = saves.at(-1) ?? NO_SAVE;
    if (save === last?.save) continue;
    open.push(...places.map(({ id }) => id));
    // Else another tab has saved its list since.
    if (store && !saves.includes(last?.save ?? NO_SAVE)) continue;
    last = { places, current, save };
    shared = settingsLeft ?? shared;
  }

  const placed = [...(sources.list?.places ?? []), ...(last?.places ?? [])];
  const records = await readRecords(store, [...changes, ...placed]);
  const before = new Map(records);
  const outcomes = applyChanges(records, changes);
  const isThere = ({ places }: PaneList) => places.some(({ id, blank }) => blank !== undefined || records.has(id));
  const shown = sources.list && isThere(sources.list) ? sources.list : last;
  const { panes, read } = panesOf(shown, records);
  if (shown?.places.some(({ id }) => records.get(id) === DAMAGED)) isDamaged = true;
  const left = [...new Set(open.map((id) => outcomes.get(id)))].flatMap((record) => {
    const isNew =
      record && before.get(record.chat.id) !== record && !read.some(({ chat }) => chat.id === record.chat.id);
    return isNew ? [{ ...record, chat: resumed(record.chat) }] : [];
  });
  const saved = shown && savedWorkspace({ current: shown.current, shared, panes });
  const status = store === null ? "unavailable" : isDamaged ? "damaged" : "ok";
  const loaded: LoadedChats = { saved, records: read, left, status };
  return {
    loaded,
    unwritten: new Map([...records].filter(([id, record]) => before.get(id) !== record)),
    /** Id of the save of the list. */
    save: last?.save ?? NO_SAVE,
    isNew: copies.length > 0 || damaged.length > 0,
    write() {
      if (store === null) return;
      for (const [index, [key, value]] of damaged.entries()) {
        store.put(value, `${ASIDE}${key}:${Date.now()}:${index}`);
        store.delete(key);
      }
      writeRecords(store, before, records);
      if (last && last !== stored) store.put(last, LIST);
      if (settings === undefined || copies.length > 0) store.put(shared, SETTINGS);
      for (const [key, copy] of fromDatabase) if (copy) store.delete(key);
    },
  };
}

async function entriesOf(store: IDBObjectStore, prefix: string): Promise<(readonly [key: string, value: unknown])[]> {
  const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
  const readKeys = promisifyRequest(store.getAllKeys(range)) as Promise<string[]>;
  const [keys, values] = await Promise.all([readKeys, promisifyRequest<unknown[]>(store.getAll(range))]);
  return keys.map((key, index) => [key, values[index]]);
}

/** Returns a list's panes, at least one, and the records that they show. */
function panesOf(list: PaneList | null, records: ReadonlyMap<string, ChatRecord>) {
  const panes: SavedPane[] = [];
  const read: ChatRecord[] = [];
  for (const { number, id, blank } of list?.places ?? []) {
    const record = records.get(id);
    if (panes.some((pane) => pane.number === number) || read.some(({ chat }) => chat.id === id)) continue;
    if (blank) panes.push({ ...asNewChat(blank), number });
    else if (record && record !== DAMAGED) {
      const chat = resumed(record.chat);
      panes.push({ ...chat, number });
      read.push({ ...record, chat });
    }
  }
  if (panes.length === 0) panes.push({ ...asNewChat(DAMAGED.chat), number: 1 });
  return { panes, read };
}

/** Reads the stored ones of the records that changes, and places of panes, may concern. */
export async function readRecords(
  store: IDBObjectStore | null,
  chats: readonly (Pick<Change, "id"> & Partial<Change>)[],
): Promise<Map<string, ChatRecord>> {
  if (store === null) return new Map();
  const ids = new Set(chats.flatMap(({ id, copyId = id, revision = id }) => [id, copyId, revision]));
  const values = await Promise.all([...ids].map((id) => promisifyRequest<unknown>(store.get(CHAT + id))));
  return new Map(
    [...ids].flatMap((id, index) => (values[index] === undefined ? [] : [[id, readRecord(values[index])] as const])),
  );
}

export function writeRecords(
  store: IDBObjectStore,
  before: ReadonlyMap<string, ChatRecord>,
  records: ReadonlyMap<string, ChatRecord>,
): void {
  for (const id of before.keys()) if (!records.has(id)) store.delete(CHAT + id);
  for (const [id, record] of records) if (before.get(id) !== record) store.put(record, CHAT + id);
}
