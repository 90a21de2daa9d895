// Saves chats in this browser's IndexedDB, each as a record of its own. It can be forbidden, full or broken; the page then
// works without it and says that nothing is saved.

import { promisifyRequest } from "idb-keyval";
import { ChorusError, randomId } from "../../../index.ts";
import { inParts } from "../in-parts.ts";
import { applyChanges, DAMAGED, readRecord, type ChatRecord, type LeftSave, type Save } from "./chat-record.ts";
import { openChatsDatabase, type ChatsDatabase } from "./chats-database.ts";
import {
  ALL_ASIDE,
  ALL_CHATS,
  CHAT,
  LEFT,
  LIST,
  loadChats,
  readRecords,
  SETTINGS,
  writeRecords,
  type LoadedChats,
} from "./load-chats.ts";
import { copiesLeft, copyStorages, dropCopy, hasCopy, keepList, keptList, leaveCopy } from "./unsaved-copy.ts";

/** Records that are read at once, between two frames. */
const MAX_AT_ONCE = 50;

interface StorageOptions {
  readonly database?: ChatsDatabase;
  readonly storages?: ReturnType<typeof copyStorages>;
}

export class ChatStorage {
  /** Called when the database has been deleted. */
  onDeleted: () => void = () => undefined;
  /** Called when a record can't be read. */
  onDamaged: () => void = () => undefined;
  readonly #database: ChatsDatabase;
  readonly #storages: ReturnType<typeof copyStorages>;
  /** This page's unique name. */
  readonly #page = randomId();
  /** Ids of the last read or finished save, and of those begun since. */
  #saves: readonly string[] = [];
  /** Whether the tab's panes are those that were read. If not, its list stays as it was. */
  #hasRead = false;
  /** What closed pages left and could not be written yet. */
  #unwritten: ReadonlyMap<string, ChatRecord> = new Map();
  /** The last save, until the database confirms it. */
  #unsaved: LeftSave | null = null;
  /** Whether this page has left a copy of it. */
  #hasCopy = false;

  constructor({ database, storages = copyStorages() }: StorageOptions = {}) {
    this.#database = database ?? openChatsDatabase(() => this.onDeleted());
    this.#storages = storages;
  }

  /** Reads the chats of the tab's panes, and what earlier pages left. Never rejects. */
  async load(): Promise<LoadedChats> {
    const { copies: storage, tab } = this.#storages;
    const sources = { copies: copiesLeft(storage), list: keptList(tab) };
    let found: Awaited<ReturnType<typeof loadChats>> | null = null;
    let isWritten = false;
    try {
      found = await this.#database.transact("readonly", (store) => loadChats(store, sources));
      isWritten = !found.isNew;
      const write = async (store: IDBObjectStore) => {
        found = await loadChats(store, sources);
        found.write();
        await committed(store);
        isWritten = true;
      };
      if (found.isNew) await this.#database.transact("readwrite", write);
    } catch {
      // What can be read is shown, even if nothing can be written.
    }
    if (found) {
      this.#saves = [found.save];
      this.#hasRead = true;
      this.#unwritten = isWritten ? new Map() : found.unwritten;
    }
    if (!found || !isWritten) return { ...(found ?? (await loadChats(null, sources))).loaded, status: "unavailable" };
    for (const page of sources.copies.keys()) dropCopy(storage, page);
    return found.loaded;
  }

  /** Saves in one transaction. Resolves with the changed chats by the changes' ids. Rejects if it can't save. */
  async save(save: Save): Promise<ReadonlyMap<string, ChatRecord | null>> {
    const { unsaved, id } = this.#begin(save);
    const outcomes = await this.#database.transact("readwrite", async (store) => {
      const records = await readRecords(store, save.changes);
      const before = new Map(records);
      const changed = applyChanges(records, save.changes);
      writeRecords(store, before, records);
      const places = save.places.map((place) => ({ ...place, id: changed.get(place.id)?.chat.id ?? place.id }));
      store.put({ places, current: save.current, save: id }, LIST);
      if (save.shared) store.put(save.shared, SETTINGS);
      store.delete(LEFT + this.#page);
      await committed(store);
      return changed;
    });
    this.#saves = this.#saves.slice(Math.max(0, this.#saves.indexOf(id)));
    if (this.#unsaved === unsaved) {
      this.#unsaved = null;
      this.#hasCopy = false;
      // A page that was restored after it had closed has left one.
      dropCopy(this.#storages.copies, this.#page);
    }
    return outcomes;
  }

  /** Leaves unsaved changes to the next page when this one closes. @param save what was not given to `save`; null: none */
  leave(save: Save | null): void {
    const unsaved = save ? this.#begin(save).unsaved : this.#unsaved;
    this.#hasCopy = unsaved !== null && leaveCopy(this.#storages.copies, this.#page, unsaved);
    const write = (store: IDBObjectStore) => {
      store.put(unsaved, LEFT + this.#page);
      store.transaction.commit();
    };
    this.#database.leave(unsaved === null || this.#hasCopy ? null : write);
  }

  /** Whether another page has taken over what this one left. */
  isTakenOver(): boolean {
    return this.#hasCopy && !hasCopy(this.#storages.copies, this.#page);
  }

  /** Returns a chat; null if it is not stored. Throws a ChorusError if it is damaged. */
  async read(id: string): Promise<ChatRecord | null> {
    const record = await this.#ask<unknown>((store) => store.get(CHAT + id));
    if (record === undefined) return this.#unwritten.get(id) ?? null;
    const read = this.#parsed(record);
    if (read === DAMAGED) throw new ChorusError("invalid_value", "Its record is damaged.", null);
    return read;
  }

  /** Reads all chats, in parts: the page is never held up. */
  async readAll(): Promise<readonly ChatRecord[]> {
    const keys = await this.#ask((store) => store.getAllKeys(IDBKeyRange.bound(...ALL_CHATS)));
    const records: ChatRecord[] = [];
    for (let at = 0; at < keys.length; at += MAX_AT_ONCE) {
      const range = IDBKeyRange.bound(keys[at], keys[Math.min(at + MAX_AT_ONCE, keys.length) - 1]);
      // oxlint-disable-next-line no-await-in-loop -- all at once would hold up the page
      const part = await this.#ask<unknown[]>((store) => store.getAll(range));
      // oxlint-disable-next-line no-await-in-loop -- as above
      records.push(...(await inParts(part, (record) => this.#parsed(record))));
    }
    const stored = new Set(keys);
    const unwritten = [...this.#unwritten.values()].filter(({ chat }) => !stored.has(CHAT + chat.id));
    return [...records.filter((record) => record !== DAMAGED), ...unwritten];
  }

  /** Returns the records that can't be read, as they are stored. */
  async readDamaged(): Promise<readonly unknown[]> {
    const allOf = (range: readonly [string, string]) =>
      this.#ask<unknown[]>((store) => store.getAll(IDBKeyRange.bound(...range)));
    const chats = await allOf(ALL_CHATS);
    return [...chats.filter((record) => readRecord(record) === DAMAGED), ...(await allOf(ALL_ASIDE))];
  }

  #begin(save: Save): { readonly unsaved: LeftSave; readonly id: string } {
    const id = randomId();
    this.#saves = [...this.#saves, id];
    const unsaved = { ...save, saves: this.#saves };
    this.#unsaved = unsaved;
    if (this.#hasRead) keepList(this.#storages.tab, save);
    return { unsaved, id };
  }

  #parsed(value: unknown): ChatRecord {
    const record = readRecord(value);
    if (record === DAMAGED) this.onDamaged();
    return record;
  }

  #ask<Result>(request: (store: IDBObjectStore) => IDBRequest<Result>): Promise<Result> {
    return this.#database.transact("readonly", (store) => promisifyRequest(request(store)));
  }
}

/** A page that closes loses what it has not committed. */
function committed({ transaction }: IDBObjectStore): Promise<void> {
  transaction.commit();
  return promisifyRequest(transaction);
}
