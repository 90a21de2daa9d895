import { toErrorData } from "../../../index.ts";
import type { Pane } from "../chat/pane.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { isBlank, MAX_PANES, type SavedChat } from "../workspace/saved-workspace.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { closedChat, summaryOf, wordsOfChat, type ChatSummary } from "./closed-chat.ts";
import type { StoredChats } from "./stored-chats.ts";
import { hasWords, wordsOf } from "./words.ts";

const NO_ROOM = `${MAX_PANES} panes are open already. Close one of them, and try again.`;

export interface ListedChat extends ChatSummary {
  /** Null if it is closed. */
  readonly pane: Pane | null;
}

/** A search for chats. */
export interface ChatQuery {
  readonly text: string;
  /** The first and the last day, "2026-11-22". Empty: any. */
  readonly from: string;
  readonly until: string;
}

interface ChatListState {
  /** unreadable: the browser doesn't let the page read stored chats; newly closed ones are there. */
  readonly status: "loading" | "ready" | "unreadable";
  readonly query: ChatQuery;
  /** The found chats: open ones in the order of their panes, then the closed ones, the newest first. */
  readonly found: readonly ListedChat[];
}

const NO_QUERY: ChatQuery = { text: "", from: "", until: "" };

/** The chats of this browser, open and closed, as a person looks through them. */
export class ChatList {
  readonly #store = createStore<ChatListState>(() => ({ status: "loading", query: NO_QUERY, found: [] }));
  readonly store: ReadonlyStore<ChatListState> = this.#store;
  readonly #workspace: Workspace;
  readonly #openStored: (() => Promise<StoredChats>) | null;
  #stored: StoredChats | null = null;
  /** All closed chats by key. */
  readonly #closed = new Map<string, ChatSummary>();
  #isSearching = false;
  #isStale = false;
  #unsubscribe: () => void = () => undefined;

  /** @param openStored null if nothing is stored */
  constructor(workspace: Workspace, openStored: (() => Promise<StoredChats>) | null) {
    this.#workspace = workspace;
    this.#openStored = openStored;
  }

  /** Reads the list and follows closed and opened chats, until `close`. */
  async open(): Promise<void> {
    try {
      this.#stored = (await this.#openStored?.()) ?? null;
      for (const summary of (await this.#stored?.list()) ?? []) this.#closed.set(summary.key, summary);
      this.#store.setState({ status: "ready" });
    } catch {
      this.#store.setState({ status: "unreadable" });
    }
    const { closed, store } = this.#workspace;
    const follow = [closed.store.subscribe(this.#follow), store.subscribe(() => void this.#search())];
    this.#unsubscribe = () => {
      for (const unsubscribe of follow) unsubscribe();
    };
    this.#follow();
  }

  close(): void {
    this.#unsubscribe();
  }

  look(query: Partial<ChatQuery>): void {
    this.#store.setState({ query: { ...this.#store.getState().query, ...query } });
    void this.#search();
  }

  /** Puts a closed chat into a pane. Resolves with the pane, or with the reason why it can't. */
  async openInPane(key: string): Promise<Pane | string> {
    if (!this.#workspace.hasRoom()) return NO_ROOM;
    let chat: SavedChat | null;
    try {
      chat = await this.read(key);
    } catch (error) {
      return `This chat can’t be read: ${toErrorData(error).message}`;
    }
    if (chat === null) {
      this.#closed.delete(key);
      void this.#search();
      return "This chat was opened or deleted in another tab.";
    }
    return this.#workspace.reopen(key, chat) ?? NO_ROOM;
  }

  deleteForGood(keys: readonly string[]): void {
    this.#workspace.closed.remove(keys);
  }

  /** Reads a closed chat; null if it is not there any more. */
  async read(key: string): Promise<SavedChat | null> {
    const pending = this.#workspace.closed.store.getState().closed.get(key);
    return pending ? pending.chat : ((await this.#stored?.read(key)) ?? null);
  }

  readonly #follow = () => {
    const { closed, gone } = this.#workspace.closed.store.getState();
    for (const key of gone) this.#closed.delete(key);
    for (const [key, chat] of closed) this.#closed.set(key, summaryOf(chat));
    void this.#search();
  };

  /** Searches, one search at a time: of those that wait meanwhile only the last is made. */
  async #search(): Promise<void> {
    if (this.#isSearching) {
      this.#isStale = true;
      return;
    }
    this.#isSearching = true;
    do {
      this.#isStale = false;
      const found = await this.#find(this.#store.getState().query);
      if (!this.#isStale) this.#store.setState({ found });
    } while (this.#isStale);
    this.#isSearching = false;
  }

  async #find({ text, from, until }: ChatQuery): Promise<readonly ListedChat[]> {
    const words = wordsOf(text);
    const matches = (chat: SavedChat) => words.size === 0 || hasWords(wordsOfChat(chat), words);
    const isInTime = ({ dateMs }: ChatSummary) => dateMs >= startOf(from, 0) && dateMs < startOf(until, 1);

    const open = this.#workspace.store.getState().panes.flatMap((pane): ListedChat[] => {
      const chat = pane.toSaved();
      if (isBlank(chat) || !matches(chat)) return [];
      return [{ ...summaryOf(closedChat({ ...chat, id: chat.id ?? "" }, Date.now())), pane }];
    });
    const pending = [...this.#workspace.closed.store.getState().closed];
    const keys = words.size === 0 ? null : new Set(await this.#stored?.find(words).catch(() => []));
    for (const [key, { chat }] of pending) if (keys && matches(chat)) keys.add(key);
    const closed = [...this.#closed.values()]
      .filter(({ key }) => keys === null || keys.has(key))
      .toSorted((a, b) => b.dateMs - a.dateMs)
      .map((summary) => ({ ...summary, pane: null }));
    return [...open, ...closed].filter(isInTime);
  }
}

/** Returns when a day, or the one `daysLater`, begins here. @param day "2026-11-22"; empty for none */
function startOf(day: string, daysLater: number): number {
  if (day === "") return daysLater === 0 ? -Infinity : Infinity;
  const date = new Date(`${day}T00:00`);
  date.setDate(date.getDate() + daysLater);
  return date.getTime();
}
