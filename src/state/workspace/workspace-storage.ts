// Saves the chats as one record in this browser's IndexedDB. It can be forbidden, full or broken; the page then works
// without it and says that nothing is saved.

import { randomId } from "../../protocol/random-id.ts";
import { get, promisifyRequest, set } from "idb-keyval";
import { openChatsDatabase } from "./chats-database.ts";
import { parseSavedWorkspace, resumed, type SavedPane, type SavedWorkspace } from "./saved-workspace.ts";

export interface WorkspaceStorage {
  /** Resolves with what was saved, or null. Never rejects, and never waits long. */
  load(): Promise<LoadedWorkspace>;
  /** Saves the chats; those that `load` found left are in there, so they are dropped. Rejects where it can't be saved. */
  save(workspace: SavedWorkspace): Promise<void>;
  /** Saves the chats of a tab that doesn't keep them, in case it is closed. */
  saveAside(workspace: SavedWorkspace): Promise<void>;
  clearAside(): Promise<void>;
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
/** A busy computer may take seconds. Don't report "not saved" earlier: the write may still succeed. */
const LONGEST_WAIT_MS = 5000;

export class IndexedDbStorage implements WorkspaceStorage {
  onDeleted: () => void = () => undefined;
  readonly #store = openChatsDatabase("chorus", "chats", () => this.onDeleted());
  /** This tab's record, which others leave alone while its lock of that name is held. Null until there is one. */
  #aside: string | null = null;
  /** Records of closed tabs. */
  #left: readonly string[] = [];

  async load(): Promise<LoadedWorkspace> {
    let record: unknown;
    let left: readonly SavedPane[];
    try {
      [record, left] = await withinTime(Promise.all([get(RECORD, this.#store), this.#loadLeft()]));
    } catch {
      return { saved: null, left: [], status: "unavailable" };
    }
    if (record === undefined) return { saved: null, left, status: "ok" };
    try {
      return { saved: parseSavedWorkspace(record), left, status: "ok" };
    } catch {
      await withinTime(set(DAMAGED_RECORD, record, this.#store)).catch(() => undefined);
      return { saved: null, left, status: "damaged" };
    }
  }

  save(workspace: SavedWorkspace): Promise<void> {
    return this.#write((chats) => {
      chats.put(workspace, RECORD);
      for (const record of this.#left) chats.delete(record);
    });
  }

  async saveAside(workspace: SavedWorkspace): Promise<void> {
    if (!("locks" in navigator)) return;
    const record = (this.#aside ??= holdName());
    await this.#write((chats) => chats.put(workspace, record));
  }

  async clearAside(): Promise<void> {
    const record = this.#aside;
    if (record !== null) await this.#write((chats) => chats.delete(record));
  }

  #write(change: (chats: IDBObjectStore) => void): Promise<void> {
    return withinTime(
      this.#store("readwrite", (chats) => {
        change(chats);
        // A page that closes loses what it has not committed.
        chats.transaction.commit();
        return promisifyRequest(chats.transaction);
      }),
    );
  }

  async #loadLeft(): Promise<readonly SavedPane[]> {
    if (!("locks" in navigator)) return [];
    const range = IDBKeyRange.bound(ASIDE_RECORD, `${ASIDE_RECORD}\uffff`);
    const keys = (await this.#store("readonly", (chats) => promisifyRequest(chats.getAllKeys(range)))) as string[];
    if (keys.length === 0) return [];
    const { held = [] } = await navigator.locks.query();
    this.#left = keys.filter((key) => !held.some(({ name }) => name === key));
    const records = await Promise.all(this.#left.map((key) => get<unknown>(key, this.#store)));
    return records.flatMap(panesOf);
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

/** A database that another page is about to upgrade can block its readers for ever. */
function withinTime<Value>(promise: Promise<Value>): Promise<Value> {
  return Promise.race([
    promise,
    new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error("IndexedDB doesn't respond.")), LONGEST_WAIT_MS);
    }),
  ]);
}
