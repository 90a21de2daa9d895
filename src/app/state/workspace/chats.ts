import { randomId } from "../../../index.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { Change, ChatRecord } from "./chat-record.ts";
import type { ChatStorage } from "./chat-storage.ts";
import { isBlank, resumed, type NamedChat, type SavedChat } from "./saved-workspace.ts";

/** What this page knows of a chat's record. */
interface Known {
  /** What is stored; null if no save was confirmed. */
  readonly chat: SavedChat | null;
  /** The revision that the page has read or saved, and those whose save is not confirmed. */
  readonly revisions: readonly string[];
  /** The chat's id if another tab has changed the record. */
  readonly copyId: string;
}

/** A chat that another tab had changed, too, so that it was saved as a chat of its own. */
export interface Copied {
  readonly id: string;
  readonly chat: SavedChat;
  readonly copy: NamedChat;
}

/** Most chats to store or delete at once: an import may add thousands, and undoing it deletes them again. */
const MAX_AT_ONCE = 50;
const PARTS = ["title", "settings", "turns", "inactiveTurns", "contextStart", "draft", "askedMs", "answerer"] as const;

/** The chats of this browser by their ids: the stored ones, and the changes that are still to be stored. */
export class Chats {
  readonly #unsaved = createStore<ReadonlyMap<string, NamedChat | null>>(() => new Map());
  /** Chats in no pane that are still to be stored; null for those to be deleted. */
  readonly unsaved: ReadonlyStore<ReadonlyMap<string, NamedChat | null>> = this.#unsaved;
  readonly storage: ChatStorage | null;
  readonly #known = new Map<string, Known>();
  readonly #page = randomId();
  #numRevisions = 0;

  /** @param storage null if nothing is stored */
  constructor(storage: ChatStorage | null = null) {
    this.storage = storage;
  }

  /** Notes what a pane goes on from; returns it as it is opened. @param past earlier revisions that may be the stored one */
  adopt({ chat: stored, revision }: ChatRecord, past: readonly string[] = []): NamedChat {
    const chat = resumed(stored);
    this.#known.set(chat.id, { chat, revisions: [...past, revision], copyId: randomId() });
    return chat;
  }

  /** Whether this page has read or saved the chat. */
  knows(id: string): boolean {
    return this.#known.has(id);
  }

  /** Keeps chats that leave their panes, or never were in one, unless they are empty. */
  put(chats: readonly NamedChat[]): void {
    this.#change(chats.map((chat) => [chat.id, isBlank(chat) ? null : chat]));
  }

  /** Deletes chats for good. @param records as they were read, of those that this page has not opened */
  delete(ids: readonly string[], records: readonly ChatRecord[] = []): void {
    for (const { chat, revision } of records) {
      const known = this.#known.get(chat.id) ?? { chat, revisions: [], copyId: randomId() };
      this.#known.set(chat.id, { ...known, revisions: [...new Set([...known.revisions, revision])] });
    }
    this.#change(ids.map((id) => [id, null]));
  }

  /** Takes a chat out that is in a pane again: its pane is saved. */
  take(taken: string): void {
    this.#forget(([id]) => id === taken);
  }

  /** Reads a chat that is in no pane, as far as it is not among the unsaved ones. */
  async read(id: string): Promise<ChatRecord | null> {
    return this.#unsaved.getState().has(id) ? null : ((await this.storage?.read(id)) ?? null);
  }

  /** Returns a chat to be opened: with what is unsaved of it, or as it was read. Null if it was deleted. */
  toOpen(id: string, record: ChatRecord | null): NamedChat | null {
    const unsaved = this.#unsaved.getState().get(id);
    return unsaved === undefined ? record && this.adopt(record) : unsaved;
  }

  /** Returns the changes to save: those of the panes' chats, and the newest of the others. */
  changes(open: readonly NamedChat[]): readonly Change[] {
    this.#forget(([id, chat]) => !this.#isChanged(id, chat));
    const others = [...this.#unsaved.getState()].slice(-MAX_AT_ONCE);
    const panes = open.map((chat) => [chat.id, isBlank(chat) ? null : chat] as const);
    return [...others, ...panes.filter(([id, chat]) => this.#isChanged(id, chat))].map(([id, chat]) => {
      const { revisions: from = [], copyId = randomId(), chat: base = null } = this.#known.get(id) ?? {};
      const revision = `${this.#page}.${this.#numRevisions++}`;
      this.#known.set(id, { chat: base, revisions: [...from, revision], copyId });
      return { id, chat, from, revision, copyId, savedMs: Date.now() };
    });
  }

  /** Notes what was saved. Returns the chats that have another id now. */
  saved(changes: readonly Change[], outcomes: ReadonlyMap<string, ChatRecord | null>): readonly Copied[] {
    const copied: Copied[] = [];
    for (const { id, chat, revision } of changes) {
      const record = outcomes.get(id) ?? null;
      const { id: newId = id, title = null } = record?.chat ?? {};
      // It may have been opened again meanwhile, as the other tab has it.
      const isSame = this.#known.get(id)?.revisions.includes(revision);
      if (record && chat && newId !== id && isSame) copied.push({ id, chat, copy: record.chat });
      const { revisions = [], copyId = randomId() } = this.#known.get(newId) ?? {
        revisions: this.#known.get(id)?.revisions,
      };
      const pending = revisions.slice(revisions.indexOf(revision) + 1);
      if (record === null && pending.length === 0) this.#known.delete(id);
      else {
        const all = record ? [record.revision, ...pending] : pending;
        this.#known.set(newId, { chat: chat && { ...chat, title }, revisions: all, copyId });
      }
    }
    const stored = new Map(changes.map(({ id, chat }) => [id, chat]));
    this.#forget(([id, chat]) => stored.has(id) && stored.get(id) === chat);
    return copied;
  }

  /** Notes that nothing is stored any more. */
  forgetStored(): void {
    this.#known.clear();
  }

  #isChanged(id: string, chat: SavedChat | null): boolean {
    const known = this.#known.get(id);
    if (chat === null) return known !== undefined;
    // A save that was not confirmed may have stored something else.
    if (!known?.chat || known.revisions.length > 1) return true;
    const { chat: stored } = known;
    return PARTS.some((part) => stored[part] !== chat[part]);
  }

  #change(entries: readonly (readonly [string, NamedChat | null])[]): void {
    const unsaved = new Map(this.#unsaved.getState());
    for (const [id, chat] of entries) {
      // The newest is stored first.
      const wasUnsaved = unsaved.delete(id);
      if (chat || wasUnsaved || this.knows(id)) unsaved.set(id, chat);
    }
    this.#unsaved.setState(unsaved, true);
  }

  #forget(isOver: (entry: readonly [string, NamedChat | null]) => boolean): void {
    const unsaved = this.#unsaved.getState();
    const rest = [...unsaved].filter((entry) => !isOver(entry));
    if (rest.length < unsaved.size) this.#unsaved.setState(new Map(rest), true);
  }
}
