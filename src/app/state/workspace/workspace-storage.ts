// Saves the panes as one record in this browser's IndexedDB, and closed chats beside it. It can be forbidden, full or
// broken; the page then works without it and says that nothing is saved.

import { promisifyRequest } from "idb-keyval";
import { randomId } from "../../../index.ts";
import { summaryOf, wordsOfChat } from "../history/closed-chat.ts";
import type { ChatMoves } from "../history/closed-chats.ts";
import type { StoredChats } from "../history/stored-chats.ts";
import { CLOSED_STORE, openChatsDatabase, PANES_STORE, SUMMARIES_STORE, WORDS_INDEX } from "./chats-database.ts";
import { parseSavedWorkspace, resumed, type SavedPane, type SavedWorkspace } from "./saved-workspace.ts";
import { copiesLeft, dropCopy, leaveCopy, placeOfCopy, copyStorage, type UnsavedCopy } from "./unsaved-copy.ts";
import { withinTime } from "./within-time.ts";

export interface WorkspaceStorage {
  /** Resolves with the saved workspace, or null. Never rejects, and never waits long. */
  load(): Promise<LoadedWorkspace>;
  /**
   * Saves the panes, and the closed and reopened chats. The panes include the chats that `load` found left, so those records
   * are deleted. Rejects if it can't save.
   */
  save(workspace: SavedWorkspace, moves: ChatMoves): Promise<void>;
  /** Saves the panes of a tab that doesn't keep them, in case it is closed. Rejects if it can't save. */
  saveAside(workspace: SavedWorkspace, moves: ChatMoves): Promise<void>;
  clearAside(): Promise<void>;
  /** Leaves unsaved changes to the next page, whose `load` saves them. Called when the page closes. */
  leave(): void;
  /** Returns the reader of the closed chats. */
  storedChats(): Promise<StoredChats>;
  /** Called when the save has been deleted. */
  onDeleted: () => void;
}

export interface LoadedWorkspace {
  readonly saved: SavedWorkspace | null;
  /** Chats of tabs that were closed while another tab saved the chats. */
  readonly left: readonly SavedPane[];
  /** damaged: the record can't be read and was set aside. unavailable: nothing can be saved. */
  readonly status: "ok" | "damaged" | "unavailable";
}

const RECORD = "workspace";
/** A record that can't be read is kept under this name, so that it can be repaired by hand. */
const DAMAGED_RECORD = "workspace-damaged";
/** Prefix of the name of a page. */
const ASIDE_RECORD = "workspace-of-";
/** The save's id, in the record of the panes. */
const SAVE_ID = "save";
/** Save id of a record without one, or of no record. */
const NO_SAVE = "";

export class IndexedDbStorage implements WorkspaceStorage {
  onDeleted: () => void = () => undefined;
  readonly #database = openChatsDatabase(() => this.onDeleted());
  /** This page's unique name. */
  readonly #page = randomId();
  /** This tab's record, which others leave alone while its lock of that name is held. */
  readonly #aside = ASIDE_RECORD + this.#page;
  #isAsideHeld = false;
  /** Ids of the last read or finished save, and of those begun since. */
  #saves: readonly string[] = [NO_SAVE];
  /** The last write to the database, until the database confirms it. */
  #unsaved: UnsavedCopy | null = null;
  /** Records of closed tabs. */
  #left: readonly string[] = [];

  async load(): Promise<LoadedWorkspace> {
    let record: unknown;
    let left: readonly SavedPane[];
    try {
      [record, left] = await withinTime(this.#loadRecords());
    } catch {
      return { saved: null, left: [], status: "unavailable" };
    }
    this.#saves = [saveIdOf(record)];
    if (record === undefined) return { saved: null, left, status: "ok" };
    try {
      return { saved: parseSavedWorkspace(record), left, status: "ok" };
    } catch {
      await this.#write((panes) => panes.put(record, DAMAGED_RECORD)).catch(() => undefined);
      return { saved: null, left, status: "damaged" };
    }
  }

  async save(workspace: SavedWorkspace, moves: ChatMoves): Promise<void> {
    const id = randomId();
    this.#saves = [...this.#saves, id];
    await this.#keep({ saves: this.#saves, workspace, moves }, (panes) => {
      panes.put({ ...workspace, [SAVE_ID]: id }, RECORD);
      for (const record of this.#left) panes.delete(record);
    });
    this.#saves = this.#saves.slice(Math.max(0, this.#saves.indexOf(id)));
  }

  async saveAside(workspace: SavedWorkspace, moves: ChatMoves): Promise<void> {
    if (!this.#isAsideHeld) holdLock(this.#aside);
    this.#isAsideHeld = true;
    const id = randomId();
    await this.#keep({ saves: [id], workspace, moves }, (panes) =>
      panes.put({ ...workspace, [SAVE_ID]: id }, this.#aside),
    );
  }

  async clearAside(): Promise<void> {
    if (this.#isAsideHeld) await this.#write((panes) => panes.delete(this.#aside));
  }

  leave(): void {
    if (this.#unsaved) leaveCopy(copyStorage(), this.#page, this.#unsaved);
  }

  async storedChats(): Promise<StoredChats> {
    const { storedChats } = await import("../history/stored-chats.ts");
    return storedChats(this.#database);
  }

  #read(key: string): Promise<unknown> {
    return this.#database("readonly", (transaction) =>
      promisifyRequest<unknown>(transaction.objectStore(PANES_STORE).get(key)),
    );
  }

  /** Writes panes and moves. Until that has succeeded, the page leaves a copy when it closes. */
  async #keep(copy: UnsavedCopy, change: (panes: IDBObjectStore) => void): Promise<void> {
    this.#unsaved = copy;
    await this.#write((panes) => {
      change(panes);
      writeMoves(panes.transaction, copy.moves);
    });
    if (this.#unsaved !== copy) return;
    this.#unsaved = null;
    // A page that was restored after it had closed has left one.
    dropCopy(copyStorage(), this.#page);
  }

  #write(change: (panes: IDBObjectStore) => void): Promise<void> {
    return withinTime(
      this.#database("readwrite", (transaction) => {
        change(transaction.objectStore(PANES_STORE));
        // A page that closes loses what it has not committed.
        transaction.commit();
        return promisifyRequest(transaction);
      }),
    );
  }

  async #loadRecords(): Promise<[record: unknown, left: readonly SavedPane[]]> {
    const added = await this.#saveCopies();
    return Promise.all([this.#read(RECORD), this.#loadLeft(added)]);
  }

  /** Saves the copies of earlier pages. Returns the names of the records that it added. */
  async #saveCopies(): Promise<readonly string[]> {
    const added: string[] = [];
    for (const [page, copy] of copiesLeft(copyStorage())) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- each goes on from the one before
        const isAdded = await this.#database("readwrite", (transaction) =>
          saveCopy(transaction, ASIDE_RECORD + page, copy),
        );
        if (isAdded) added.push(ASIDE_RECORD + page);
        dropCopy(copyStorage(), page);
      } catch {
        // The next page may do it.
      }
    }
    return added;
  }

  /** @param added records of closed pages, even if their locks are still held */
  async #loadLeft(added: readonly string[]): Promise<readonly SavedPane[]> {
    const range = IDBKeyRange.bound(ASIDE_RECORD, `${ASIDE_RECORD}\uffff`);
    const keys = await this.#database("readonly", (transaction) =>
      promisifyRequest(transaction.objectStore(PANES_STORE).getAllKeys(range)),
    );
    if (keys.length === 0) return [];
    // Without locks no tab saves aside while it is open.
    const { held = [] } = "locks" in navigator ? await navigator.locks.query() : {};
    this.#left = (keys as string[]).filter((key) => added.includes(key) || !held.some(({ name }) => name === key));
    const records = await Promise.all(this.#left.map((key) => this.#read(key)));
    return records.flatMap(panesOf);
  }
}

function writeMoves(transaction: IDBTransaction, { closed, gone }: ChatMoves): void {
  const chats = transaction.objectStore(CLOSED_STORE);
  const summaries = transaction.objectStore(SUMMARIES_STORE);
  for (const key of gone) {
    chats.delete(key);
    summaries.delete(key);
  }
  for (const [key, each] of closed) {
    chats.put({ chat: each.chat, [WORDS_INDEX]: [...wordsOfChat(each.chat)] }, key);
    summaries.put(summaryOf(each), key);
  }
}

/** Returns the panes of a record; none if it can't be read. */
function panesOf(record: unknown): readonly SavedPane[] {
  try {
    return parseSavedWorkspace(record).panes.map(resumed);
  } catch {
    return [];
  }
}

function saveIdOf(record: unknown): string {
  const id: unknown = typeof record === "object" && record !== null && SAVE_ID in record ? record[SAVE_ID] : NO_SAVE;
  return typeof id === "string" ? id : NO_SAVE;
}

/**
 * Saves a copy, unless its page's own write has arrived. Resolves to whether it is a record of its own now.
 * @param aside the record's name
 */
async function saveCopy(transaction: IDBTransaction, aside: string, copy: UnsavedCopy): Promise<boolean> {
  const panes = transaction.objectStore(PANES_STORE);
  const saved = promisifyRequest<unknown>(panes.get(RECORD));
  const savedAside = promisifyRequest<unknown>(panes.get(aside));
  const place = placeOfCopy(copy, saveIdOf(await saved), saveIdOf(await savedAside));
  if (place !== "arrived") {
    // Under the page's own names: if its own write comes after this one, nothing changes.
    panes.put({ ...copy.workspace, [SAVE_ID]: copy.saves.at(-1) }, place === "newer" ? RECORD : aside);
    writeMoves(transaction, copy.moves);
  }
  await promisifyRequest(transaction);
  return place === "other";
}

/** Holds a lock as long as the tab is open. */
function holdLock(name: string): void {
  void navigator.locks.request(name, () => new Promise(() => undefined)).catch(() => undefined);
}
