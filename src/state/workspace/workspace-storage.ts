// Saves the chats as one record in this browser's IndexedDB. It can be forbidden, full or broken; the page then works
// without it and says that nothing is saved.

import { createStore, get, promisifyRequest, set } from "idb-keyval";
import { parseSavedWorkspace, type SavedWorkspace } from "./saved-workspace.ts";

export interface WorkspaceStorage {
  /** Resolves with what was saved, or null. Never rejects, and never waits long. */
  load(): Promise<LoadedWorkspace>;
  /** Rejects where it can't be saved. */
  save(workspace: SavedWorkspace): Promise<void>;
}

export interface LoadedWorkspace {
  readonly saved: SavedWorkspace | null;
  /** damaged: the record can't be read and was set aside. unavailable: nothing can be saved. */
  readonly status: "ok" | "damaged" | "unavailable";
}

const RECORD = "workspace";
/** A record that can't be read is kept under this name, so that it can be repaired by hand. */
const DAMAGED_RECORD = "workspace-damaged";
/** A busy computer may take seconds. Don't report "not saved" earlier: the write may still succeed. */
const LONGEST_WAIT_MS = 5000;

export class IndexedDbStorage implements WorkspaceStorage {
  readonly #store = createStore("chorus", "chats");

  async load(): Promise<LoadedWorkspace> {
    let record: unknown;
    try {
      record = await withinTime(get(RECORD, this.#store));
    } catch {
      return { saved: null, status: "unavailable" };
    }
    if (record === undefined) return { saved: null, status: "ok" };
    try {
      return { saved: parseSavedWorkspace(record), status: "ok" };
    } catch {
      await withinTime(set(DAMAGED_RECORD, record, this.#store)).catch(() => undefined);
      return { saved: null, status: "damaged" };
    }
  }

  save(workspace: SavedWorkspace): Promise<void> {
    return this.#store("readwrite", (chats) => {
      chats.put(workspace, RECORD);
      // A page that closes loses what it has not committed.
      chats.transaction.commit();
      return promisifyRequest(chats.transaction);
    });
  }
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
