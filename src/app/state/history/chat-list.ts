import { toErrorData } from "../../../index.ts";
import type { Pane } from "../chat/pane.ts";
import { inParts } from "../in-parts.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { ChatRecord } from "../workspace/chat-record.ts";
import { followPanes } from "../workspace/follow-panes.ts";
import { isBlank, MAX_PANES, titleOfChat, type NamedChat } from "../workspace/saved-workspace.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { summaryOf, type ChatSummary } from "./chat-summary.ts";
import { hasWords, wordsOf } from "./words.ts";

const NO_ROOM = `${MAX_PANES} panes are open already. Close one of them, and try again.`;

export interface ListedChat extends ChatSummary {
  /** Null if it is in no pane. */
  readonly pane: Pane | null;
}

const NOT_READ = {
  /** unreadable: the browser doesn't let the page read stored chats; newly closed ones are there. */
  status: "loading" as "loading" | "ready" | "unreadable",
  /** Words, the first and the last day, "2026-11-22". Empty: any. */
  query: { text: "", from: "", until: "" },
  /** The found chats: open ones in the order of their panes, then the closed ones, the newest first. */
  found: [] as readonly ListedChat[],
};
type ChatListState = Readonly<typeof NOT_READ>;

/** The chats of this browser, open and closed, as a person looks through them. */
export class ChatList {
  readonly #store = createStore<ChatListState>(() => NOT_READ);
  readonly store: ReadonlyStore<ChatListState> = this.#store;
  readonly #workspace: Workspace;
  /** All chats by id, as they were stored or left their panes. */
  #chats = new Map<string, ChatSummary>();
  #unsubscribe: () => void = () => undefined;
  #numOpened = 0;
  #isSearchDue = false;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Reads the list, or reads it again: other tabs close and delete chats, too. Follows those of this page, until `close`. */
  async open(): Promise<void> {
    const number = ++this.#numOpened;
    const { chats, store } = this.#workspace;
    // They may have been read as they were before.
    const changed = new Map(chats.unsaved.getState());
    const stop = chats.unsaved.subscribe((now) => now.forEach((chat, id) => changed.set(id, chat)));
    const stored = await (chats.storage?.readAll() ?? Promise.resolve([])).catch(() => null);
    const read = await inParts(stored ?? [], (record) => {
      const known = this.#chats.get(record.chat.id);
      return known?.record.revision === record.revision ? known : summaryOf(record);
    });
    stop();
    if (number !== this.#numOpened) return;
    this.#store.setState({ status: stored ? "ready" : "unreadable" });
    if (stored) this.#chats = new Map(read.map((summary) => [summary.record.chat.id, summary]));
    this.#note(changed);
    this.#unsubscribe();
    const follow = [
      chats.unsaved.subscribe(this.#note),
      store.subscribe(({ panes }, before) => panes !== before.panes && this.#searchSoon()),
      // Not each word of an answer that grows.
      followPanes(this.#workspace, (now, before) => {
        const isListed = now.phase === before.phase && titleOfChat(now) === titleOfChat(before);
        if (!isListed || now.id !== before.id || now.turns.length !== before.turns.length) this.#searchSoon();
      }),
    ];
    this.#unsubscribe = () => follow.forEach((unsubscribe) => unsubscribe());
  }

  close(): void {
    this.#numOpened++;
    this.#unsubscribe();
  }

  search(query: Partial<ChatListState["query"]>): void {
    this.#store.setState({ query: { ...this.#store.getState().query, ...query } });
    // The first search reads the words of all chats, which takes a while.
    const isInWords = wordsOf(this.#store.getState().query.text).size > 0;
    void inParts(isInWords ? [...this.#chats.values()] : [], (chat) => chat.words()).then(() => this.#searchSoon());
  }

  /** Opens a closed chat in the current pane, or in one of its own. Resolves with the pane, or with why it can't. */
  async openInPane({ record: { chat } }: ListedChat, isBeside = false): Promise<Pane | string> {
    const { chats } = this.#workspace;
    let record: ChatRecord | null;
    try {
      record = await chats.read(chat.id);
    } catch (error) {
      return `This chat can’t be read: ${toErrorData(error).message}`;
    }
    const pane = this.#workspace.reopen(chat.id, record, isBeside);
    if (pane === "no room") return NO_ROOM;
    if (pane) return pane;
    this.#chats.delete(chat.id);
    this.#searchSoon();
    return "This chat was deleted in another tab.";
  }

  readonly #note = (changed: ReadonlyMap<string, NamedChat | null>) => {
    for (const [id, chat] of changed) {
      const summary = this.#chats.get(id);
      if (chat === null) this.#chats.delete(id);
      else if (summary?.record.chat !== chat) this.#chats.set(id, summaryOf(unsavedRecord(chat)));
    }
    this.#searchSoon();
  };

  /** Searches once where many panes change together. */
  #searchSoon(): void {
    if (this.#isSearchDue) return;
    this.#isSearchDue = true;
    queueMicrotask(() => {
      this.#isSearchDue = false;
      this.#find();
    });
  }

  #find(): void {
    const { text, from, until } = this.#store.getState().query;
    const words = wordsOf(text);
    const isFound = (chat: ChatSummary) =>
      chat.dateMs >= startOf(from, 0) &&
      chat.dateMs < startOf(until, 1) &&
      (words.size === 0 || hasWords(chat.words(), words));

    const open = this.#workspace.store.getState().panes.flatMap((pane): ListedChat[] => {
      const chat = pane.toSaved();
      return isBlank(chat) ? [] : [{ ...summaryOf(unsavedRecord(chat)), pane }];
    });
    const openIds = new Set(open.map(({ record }) => record.chat.id));
    const others = [...this.#chats.values()]
      .filter(({ record }) => !openIds.has(record.chat.id))
      .toSorted((a, b) => b.dateMs - a.dateMs)
      .map((chat) => ({ ...chat, pane: null }));
    this.#store.setState({ found: [...open, ...others].filter(isFound) });
  }
}

function unsavedRecord(chat: NamedChat): ChatRecord {
  return { chat, revision: "", past: [], savedMs: Date.now() };
}

/** Returns when a day, or the one `daysLater`, begins here. @param day "2026-11-22"; empty for none */
function startOf(day: string, daysLater: number): number {
  if (day === "") return daysLater === 0 ? -Infinity : Infinity;
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  return date.getTime();
}
