import type { Settings } from "../settings/settings.ts";
import { createStore, type ReadonlyStore, type StoreApi } from "../store.ts";
import type { ChatRecord, Save } from "./chat-record.ts";
import type { ChatStorage } from "./chat-storage.ts";
import type { Copied } from "./chats.ts";
import { followPanes } from "./follow-panes.ts";
import type { LoadedChats } from "./load-chats.ts";
import { isBlank, titleOfChat } from "./saved-workspace.ts";
import type { Workspace } from "./workspace.ts";

/** damaged: saved, but a record could not be read. unsaved: forbidden, or no space; saving is retried until it works. */
export type SavingStatus = "saved" | "damaged" | "unsaved";

/** Text arrives many times per second; the saved chats may lag by this much. */
const PAUSE_MS = 500;
/** Pause between two batches of chats in no pane. */
const SHORT_PAUSE_MS = 50;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;

/** Saves the chats soon after they have changed, and at once when the page closes. */
export class ChatSaver {
  readonly #store = createStore<SavingStatus>(() => "saved");
  readonly store: ReadonlyStore<SavingStatus> = this.#store;
  readonly storage: ChatStorage;
  readonly #workspace: Workspace;
  readonly #settings: StoreApi<Settings>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #retryMs = FIRST_RETRY_MS;
  /** Whether the page is closed: it may be shown again. */
  #isAway = false;
  /** How often it was closed. */
  #numLeft = 0;
  /** Whether this tab has read what is stored. If not, it saves nothing. */
  #hasRead: boolean;
  /** The stored settings for all panes, as far as this tab knows. */
  #shared: Settings;

  constructor(storage: ChatStorage, loaded: LoadedChats, workspace: Workspace, settings: StoreApi<Settings>) {
    this.storage = storage;
    this.#workspace = workspace;
    this.#settings = settings;
    this.#shared = settings.getState();
    this.#hasRead = loaded.status !== "unavailable";
    // Of an unsaved copy, the database has an earlier revision.
    for (const record of loaded.records) workspace.chats.adopt(record, this.#hasRead ? [] : record.past);
    if (loaded.status !== "ok") this.#store.setState(this.#hasRead ? "damaged" : "unsaved", true);
    if (!this.#hasRead) this.#retryLater();
    storage.onDeleted = () => {
      workspace.chats.forgetStored();
      this.#shared = {};
      this.#saveSoon();
    };
    storage.onDamaged = () => {
      if (this.#store.getState() === "saved") this.#store.setState("damaged", true);
    };
    workspace.store.subscribe(() => this.#saveSoon());
    followPanes(workspace, () => this.#saveSoon());
    settings.subscribe(() => this.#saveSoon());
    workspace.chats.unsaved.subscribe((unsaved) => {
      if (unsaved.size > 0) this.#saveSoon(SHORT_PAUSE_MS);
    });
    this.#open(loaded.left);
  }

  /** Leaves unsaved changes to the next page when this one closes: a save would not come to its end. */
  leave(): void {
    const isSaved = this.#hasRead && this.#timer === undefined && this.#store.getState() !== "unsaved";
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isAway = true;
    this.#numLeft++;
    this.storage.leave(isSaved ? null : this.#next());
  }

  /** Goes on when the browser shows the page again. Returns false if another page has gone on with its chats meanwhile. */
  comeBack(): boolean {
    if (this.storage.isTakenOver()) return false;
    this.#isAway = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#store.getState() === "unsaved") this.#retryLater();
    else this.#saveSoon();
    return true;
  }

  readonly flush = (): void => {
    if (this.#timer === undefined || this.#isAway) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void (this.#hasRead ? this.#save() : this.#retry());
  };

  /** Opens what was read in panes, as far as the tab does not know it. Those that have no room are in the list of chats. */
  #open(records: readonly ChatRecord[]): void {
    const { chats, undoList } = this.#workspace;
    const unknown = records.filter(({ chat }) => !chats.knows(chat.id));
    if (unknown.length === 0) return;
    const { ids } = this.#workspace.addChats(unknown.map((record) => chats.adopt(record)));
    if (ids.length === 0) return;
    const chatsAre = ids.length === 1 ? "A chat of another tab is" : `${ids.length} chats of another tab are`;
    undoList.notify(`${chatsAre} in the list of chats`);
  }

  #saveSoon(pauseMs = PAUSE_MS): void {
    if (this.#store.getState() !== "unsaved") this.#timer ??= setTimeout(this.flush, pauseMs);
  }

  #next(): Save {
    const { chats, store } = this.#workspace;
    const { panes, current } = store.getState();
    const open = panes.map((pane) => ({ number: pane.number, chat: pane.toSaved() }));
    const places = open.map(({ number, chat }) => ({ number, id: chat.id, ...(isBlank(chat) && { blank: chat }) }));
    const changes = chats.changes(open.map(({ chat }) => chat));
    const shared = this.#settings.getState();
    return { changes, places, current, shared: shared === this.#shared ? null : shared };
  }

  async #save(): Promise<void> {
    const save = this.#next();
    const numLeft = this.#numLeft;
    try {
      const outcomes = await this.storage.save(save);
      for (const copied of this.#workspace.chats.saved(save.changes, outcomes)) this.#notifyOfCopy(copied);
    } catch {
      if (numLeft === this.#numLeft) this.#fail();
      return;
    }
    this.#shared = save.shared ?? this.#shared;
    this.#retryMs = FIRST_RETRY_MS;
    if (this.#store.getState() !== "unsaved") return;
    this.#store.setState("saved", true);
    // For later changes.
    this.#saveSoon();
  }

  #notifyOfCopy(copied: Copied): void {
    if (this.#workspace.goOnAs(copied)) return;
    const title = titleOfChat(copied.copy);
    this.#workspace.undoList.notify(`“${title}” is a chat of its own: another tab had changed the chat, too`);
  }

  #fail(): void {
    this.#store.setState("unsaved", true);
    this.#retryLater();
  }

  #retryLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.flush, this.#retryMs);
    this.#retryMs = Math.min(2 * this.#retryMs, LONGEST_RETRY_MS);
  }

  /** Tries to save again. What could not be read before is opened beside what was said meanwhile. */
  async #retry(): Promise<void> {
    if (!this.#hasRead) {
      const { saved, records, left, status } = await this.storage.load();
      if (saved && this.#settings.getState() === this.#shared) {
        this.#settings.setState(saved.shared, true);
        this.#shared = saved.shared;
      }
      this.#open([...records, ...left]);
      if (status === "unavailable") return this.#fail();
      this.#hasRead = true;
    }
    await this.#save();
  }
}

/** Saves the rest when the page is hidden or closed. @param showAll flushes what waits for a frame, which may never come */
export function saveWhileOpen(saver: ChatSaver, showAll: () => void): void {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    showAll();
    saver.flush();
  });
  addEventListener("pagehide", () => {
    showAll();
    saver.leave();
  });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && !saver.comeBack()) location.reload();
  });
}
