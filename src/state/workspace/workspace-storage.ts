// Saves the panes as one record in this browser's IndexedDB, and closed chats beside it. It can be forbidden, full or
// broken; the page then works without it and says that nothing is saved.

import { promisifyRequest } from "idb-keyval";
import { randomId } from "../../protocol/random-id.ts";
import { summaryOf, wordsOfChat } from "../history/closed-chat.ts";
import type { ChatMoves } from "../history/closed-chats.ts";
import type { StoredChats } from "../history/stored-chats.ts";
import { CLOSED_STORE, openChatsDatabase, PANES_STORE, SUMMARIES_STORE, WORDS_INDEX } from "./chats-database.ts";
import { parseSavedWorkspace, resumed, type SavedPane, type SavedWorkspace } from "./saved-workspace.ts";
import { withinTime } from "./within-time.ts";

export interface WorkspaceStorage {
  /** Resolves with what was saved, or null. Never rejects, and never waits long. */
  load(): Promise<LoadedWorkspace>;
  /**
   * Saves the panes, and which chats were closed and opened again. Those that `load` found left are in there, so they are
   * dropped. Rejects where it can't be saved.
   */
  save(workspace: SavedWorkspace, moves: ChatMoves): Promise<void>;
  /** Saves the panes of a tab that doesn't keep them, in case it is closed. Rejects where it can't be saved. */
  saveAside(workspace: SavedWorkspace, moves: ChatMoves): Promise<void>;
  clearAside(): Promise<void>;
  /** What reads the closed chats. */
  storedChats(): Promise<StoredChats>;
  /** Called when what was saved has been deleted. */
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
/** Before the name of a tab. */
const ASIDE_RECORD = "workspace-of-";

export class IndexedDbStorage implements WorkspaceStorage {
  onDeleted: () => void = () => undefined;
  readonly #database = openChatsDatabase(() => this.onDeleted());
  /** This tab's record, which others leave alone while its lock of that name is held. Null until there is one. */
  #aside: string | null = null;
  /** Records of closed tabs. */
  #left: readonly string[] = [];

  async load(): Promise<LoadedWorkspace> {
    let record: unknown;
    let left: readonly SavedPane[];
    try {
      [record, left] = await withinTime(Promise.all([this.#read(RECORD), this.#loadLeft()]));
    } catch {
      return { saved: null, left: [], status: "unavailable" };
    }
    if (record === undefined) return { saved: null, left, status: "ok" };
    try {
      return { saved: parseSavedWorkspace(record), left, status: "ok" };
    } catch {
      await this.#write((panes) => panes.put(record, DAMAGED_RECORD)).catch(() => undefined);
      return { saved: null, left, status: "damaged" };
    }
  }

  save(workspace: SavedWorkspace, moves: ChatMoves): Promise<void> {
    return this.#write((panes) => {
      panes.put(workspace, RECORD);
      for (const record of this.#left) panes.delete(record);
      writeMoves(panes.transaction, moves);
    });
  }

  async saveAside(workspace: SavedWorkspace, moves: ChatMoves): Promise<void> {
    const record = (this.#aside ??= holdName());
    await this.#write((panes) => {
      panes.put(workspace, record);
      writeMoves(panes.transaction, moves);
    });
  }

  async clearAside(): Promise<void> {
    const record = this.#aside;
    if (record !== null) await this.#write((panes) => panes.delete(record));
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

  async #loadLeft(): Promise<readonly SavedPane[]> {
    if (!("locks" in navigator)) return [];
    const range = IDBKeyRange.bound(ASIDE_RECORD, `${ASIDE_RECORD}\uffff`);
    const keys = await this.#database("readonly", (transaction) =>
      promisifyRequest(transaction.objectStore(PANES_STORE).getAllKeys(range)),
    );
    if (keys.length === 0) return [];
    const { held = [] } = await navigator.locks.query();
    this.#left = (keys as string[]).filter((key) => !held.some(({ name }) => name === key));
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

/** A record that can't be read has nothing to give. */
function panesOf(record: unknown): readonly SavedPane[] {
  try {
    return parseSavedWorkspace(record).panes.map(resumed);
  } catch {
    return [];
  }
}

/** Returns a name for this tab, and holds a lock of that name as long as the tab is open. */
function holdName(): string {
  const name = `${ASIDE_RECORD}${randomId()}`;
  void navigator.locks.request(name, () => new Promise(() => undefined)).catch(() => undefined);
  return name;
}
