import type { AnswerMemory } from "../chat/answer-memory.ts";
import type { LikelyToken } from "../chat/answer-tokens.ts";
import { branchedTurn } from "../chat/branching.ts";
import { Pane, type PaneContext } from "../chat/pane.ts";
import { ClosedChats } from "../history/closed-chats.ts";
import {
  isBlank,
  MAX_PANES,
  savedWorkspace,
  textOfChat,
  type SavedChat,
  type SavedWorkspace,
} from "./saved-workspace.ts";
import { createStore, type ReadonlyStore, type StoreApi } from "../store.ts";
import { UndoList } from "./undo-list.ts";

export { MAX_PANES };

interface WorkspaceState {
  /** In display order. Never empty. */
  readonly panes: readonly Pane[];
  /** The pane in view if there is room for only one. */
  readonly current: number;
}

/** A chat to be put into a pane. */
interface PlacedChat {
  readonly chat?: SavedChat;
  /** Memory of a chat that was in a pane before. [none] */
  readonly memory?: AnswerMemory;
  /** The pane's number, if it is free. [the least recently used one] */
  readonly number?: number;
  /** The pane's index. [the last] */
  readonly place?: number;
}

interface AddedChats {
  readonly panes: readonly Pane[];
  /** Keys of the chats that are in no pane. */
  readonly keys: readonly string[];
  /** Empty panes that were replaced. */
  readonly replaced: readonly PlacedChat[];
}

/** Tokens of long chats take megabytes. */
const MAX_MEMORIES = 50;
const ALL_NUMBERS: readonly number[] = Array.from({ length: MAX_PANES }, (_, index) => index + 1);

/** The open panes. A closed pane's number, and so its colour, is reused last. */
export class Workspace {
  readonly store: ReadonlyStore<WorkspaceState>;
  /** Chats that left their panes. */
  readonly closed = new ClosedChats();
  readonly undoList = new UndoList();
  readonly #store: StoreApi<WorkspaceState>;
  readonly #context: PaneContext;
  #freeNumbers = [...ALL_NUMBERS];
  /** Memories of chats that were closed on this page, by the chats' keys. */
  readonly #memories = new Map<string, AnswerMemory>();

  constructor(context: PaneContext, saved: SavedWorkspace | null = null) {
    this.#context = { ...context, onReplaced: this.#onReplaced };
    this.store = this.#store = createStore<WorkspaceState>(() => this.#opened(saved));
  }

  /** Replaces all open panes by the saved ones. */
  restore(saved: SavedWorkspace): void {
    for (const pane of this.#panes()) pane.close();
    this.#freeNumbers = [...ALL_NUMBERS];
    this.#store.setState(this.#opened(saved));
  }

  toSaved(): SavedWorkspace {
    const { panes, current } = this.#store.getState();
    const shared = this.#context.settings.store.getState();
    return savedWorkspace({ current, shared, panes: panes.map((pane) => pane.toSaved()) });
  }

  /** Opens an empty pane. Returns null when sixteen are open. */
  addPane(): Pane | null {
    return this.#exchange([], [{}])[0] ?? null;
  }

  /** Opens a copy of a pane beside it, with the same chat and settings. Returns null when sixteen are open. */
  duplicatePane(pane: Pane): Pane | null {
    return this.#openBeside(pane, asNewChat(pane.toSaved()));
  }

  /**
   * Opens a pane beside this one with the conversation up to an answer, without variants. Both share their beginning in
   * the prefix cache.
   */
  forkPane(pane: Pane, turnId: number): Pane | null {
    const chat = asNewChat(pane.toSaved());
    const numTurns = chat.turns.findIndex(({ id }) => id === turnId) + 1;
    const firstSent = Math.min(chat.firstSent, Math.max(0, numTurns - 1));
    const turns = chat.turns.slice(0, numTurns);
    return this.#openBeside(pane, { ...chat, turns, unchosen: [], firstSent, draft: "" });
  }

  /**
   * Opens a pane beside this one that goes on from a token of an answer with another one. Both share every block before it.
   * @param token index of the answer's token
   */
  branchPane(pane: Pane, turnId: number, token: number, other: LikelyToken): Pane | null {
    const chat = asNewChat(pane.toSaved());
    const at = chat.turns.findIndex(({ id }) => id === turnId);
    const turn = chat.turns[at];
    const tokens = pane.memory.tokens.of(turnId);
    if (turn === undefined || tokens === null) return null;
    const { likeliest = [] } = tokens.answer[token] ?? {};
    const answer = [...tokens.answer.slice(0, token), { ...other, likeliest }];
    const turns = [...chat.turns.slice(0, at), branchedTurn(turn, answer)];
    const firstSent = Math.min(chat.firstSent, at);
    const opened = this.#openBeside(pane, { ...chat, turns, unchosen: [], firstSent, draft: "" });
    opened?.memory.tokens.adopt(turnId, { ...tokens, answer });
    opened?.memory.branches.set(turnId, { word: other.text, cost: null });
    opened?.continueAnswer();
    return opened;
  }

  /** Swaps a pane with its neighbour: -1 is left, 1 is right. */
  movePane(pane: Pane, steps: number): void {
    this.movePaneTo(pane, this.#panes().indexOf(pane) + steps);
  }

  /** @param place its index afterwards */
  movePaneTo(pane: Pane, place: number): void {
    const panes = this.#panes();
    if (place < 0 || place >= panes.length || panes[place] === pane) return;
    const others = panes.filter((other) => other !== pane);
    this.#store.setState({ panes: [...others.slice(0, place), pane, ...others.slice(place)] });
  }

  /** Closes a pane and returns the one that replaces it: its neighbour, or a new one if it was the last. */
  closePane(pane: Pane): Pane | null {
    const before = this.#panes();
    const place = before.indexOf(pane);
    if (place < 0) return null;
    pane.stop();
    const { number, ...chat } = pane.toSaved();
    const keys = this.#keep([chat]);
    for (const key of keys) this.#remember(key, pane.memory);
    this.#exchange([pane], []);
    const heir = this.#panes()[place] ?? this.#panes().at(-1) ?? null;
    const undo = () => {
      if (!this.#canComeBack(chat, keys)) return false;
      // If that was the last pane, an empty one replaced it.
      const taken = this.#panes().filter((other) => other === heir && !before.includes(heir) && isEmpty(heir));
      const isReopened = this.#exchange(taken, [{ chat, memory: pane.memory, number, place }]).length > 0;
      if (isReopened) this.closed.remove(keys);
      return isReopened;
    };
    this.undoList.add({ title: `Pane ${number} closed`, undo });
    return heir;
  }

  /** Closes a pane's chat and begins a new one there. Its name, settings and draft stay. */
  clearPane(pane: Pane): void {
    pane.stop();
    const { number: _, ...chat } = pane.toSaved();
    if (chat.turns.length === 0) return;
    const keys = this.#keep([{ ...chat, draft: "" }]);
    pane.replaceChat();
    const { id } = pane.store.getState();
    const undo = () => {
      const emptied = this.#paneOf(id);
      if (!this.#canComeBack(chat, keys) || emptied === undefined || emptied.store.getState().turns.length > 0)
        return false;
      emptied.replaceChat(chat);
      this.closed.remove(keys);
      return true;
    };
    const num = chat.turns.length;
    this.undoList.add({ title: `${num} ${num === 1 ? "message" : "messages"} cleared`, undo });
  }

  /** Returns whether another chat can be put into a pane. */
  hasRoom(): boolean {
    return this.#freeNumbers.length > 0 || this.#panes().some(isEmpty);
  }

  /** Opens a closed chat in a pane, with its memory if this page has it; returns null if there is no room. */
  reopen(key: string, chat: SavedChat): Pane | null {
    if (!this.hasRoom()) return null;
    const [pane = null] = this.addChats([chat], this.#memories.get(key)).panes;
    this.#memories.delete(key);
    this.closed.remove([key]);
    return pane;
  }

  /** Opens each chat in a pane, replacing empty panes. Those without room become closed chats. */
  addChats(chats: readonly SavedChat[], memory?: AnswerMemory): AddedChats {
    const empty = this.#panes().filter(isEmpty);
    const replaced = empty.map((pane) => {
      const { number, ...chat } = pane.toSaved();
      return { chat, number, place: this.#panes().indexOf(pane) };
    });
    const panes = this.#exchange(
      empty,
      // Another tab may have closed a chat that is open here.
      chats.map((chat) => (this.#paneOf(chat.id) ? { chat: asNewChat(chat) } : { chat, ...(memory && { memory }) })),
    );
    return { panes, keys: this.#keep(chats.slice(panes.length)), replaced };
  }

  /** Opens the chats of a file, as `addChats` does. @param listed chats for the list of closed ones, maybe thousands */
  async importChats(chats: readonly SavedChat[], listed: readonly SavedChat[]): Promise<AddedChats> {
    const kept = await this.closed.addMany(listed.filter((chat) => !isBlank(chat)));
    const opened = this.addChats(chats);
    const added = { ...opened, keys: [...opened.keys, ...kept] };
    const before = new Map(added.panes.map((pane) => [pane.store.getState().id, textOfChat(pane.toSaved())]));
    const undo = () => {
      const panes = this.#panes().filter((pane) => before.has(pane.store.getState().id));
      for (const pane of panes) pane.stop();
      const saved = panes.map((pane) => pane.toSaved());
      this.#keep(saved.filter((chat) => before.get(chat.id ?? "") !== textOfChat(chat)));
      this.#exchange(panes, added.replaced);
      this.closed.remove(added.keys);
      return true;
    };
    const num = chats.length + listed.length;
    this.undoList.add({ title: `${num} ${num === 1 ? "chat" : "chats"} imported`, undo });
    return added;
  }

  select(number: number): void {
    if (number !== this.#store.getState().current) this.#store.setState({ current: number });
  }

  #remember(key: string, memory: AnswerMemory): void {
    this.#memories.set(key, memory);
    const [oldest] = this.#memories.keys();
    if (this.#memories.size > MAX_MEMORIES && oldest !== undefined) this.#memories.delete(oldest);
  }

  #panes(): readonly Pane[] {
    return this.#store.getState().panes;
  }

  #paneOf(chatId: string | undefined): Pane | undefined {
    return this.#panes().find((pane) => pane.store.getState().id === chatId);
  }

  /** Adds chats to the closed ones, unless they are empty. Returns their keys. */
  #keep(chats: readonly SavedChat[]): readonly string[] {
    return this.closed.add(chats.filter((chat) => !isBlank(chat)));
  }

  /** Returns whether a chat is in no pane and was not deleted since. @param keys its keys as a closed chat */
  #canComeBack(chat: SavedChat, keys: readonly string[]): boolean {
    return this.#paneOf(chat.id) === undefined && !this.closed.hasRemoved(keys);
  }

  readonly #onReplaced = (pane: Pane, what: "answer" | "question", lastTurnId: number) => {
    const { id } = pane.store.getState();
    const undo = () => {
      const now = this.#paneOf(id);
      now?.stop();
      now?.chooseTurn(lastTurnId);
      return now !== undefined;
    };
    const undoable = { title: what === "answer" ? "Answer regenerated" : "Question edited", undo };
    this.undoList.add(undoable);
    return () => this.undoList.withdraw(undoable);
  };

  /** Opens the saved panes, or one empty pane. All numbers must be free. */
  #opened(saved: SavedWorkspace | null): WorkspaceState {
    const placed: readonly PlacedChat[] = saved?.panes.map(({ number, ...chat }) => ({ chat, number })) ?? [{}];
    const panes = placed.flatMap((each) => this.#open(each) ?? []);
    const current = panes.find(({ number }) => number === saved?.current) ?? panes[0];
    return { panes, current: current?.number ?? 1 };
  }

  #openBeside(pane: Pane, chat: SavedChat): Pane | null {
    return this.#exchange([], [{ chat, place: this.#panes().indexOf(pane) + 1 }])[0] ?? null;
  }

  /**
   * Closes panes and opens others, as far as there is room. Opens an empty one if none would be left. The first new pane comes
   * into view, or else the successor of the pane that was in view.
   */
  #exchange(closed: readonly Pane[], placed: readonly PlacedChat[]): readonly Pane[] {
    const { panes, current } = this.#store.getState();
    for (const pane of closed) pane.close();
    const freed = closed.map(({ number }) => number);
    this.#freeNumbers = placed.length > 0 ? [...freed, ...this.#freeNumbers] : [...this.#freeNumbers, ...freed];
    const rest = panes.filter((pane) => !closed.includes(pane));
    const opened = placed.flatMap((each) => {
      const pane = this.#open(each);
      if (pane) rest.splice(each.place ?? rest.length, 0, pane);
      return pane ?? [];
    });
    // With no pane left, numbers begin again.
    if (rest.length === 0) this.#freeNumbers = [...ALL_NUMBERS.filter((number) => !freed.includes(number)), ...freed];
    const empty = rest.length === 0 ? this.#open({}) : null;
    if (empty) rest.push(empty);
    const place = panes.findIndex(({ number }) => number === current);
    const isThere = rest.some(({ number }) => number === current);
    const inView = opened[0]?.number ?? (isThere ? current : (rest[place] ?? rest.at(-1))?.number);
    this.#store.setState({ panes: rest, current: inView ?? current });
    return opened;
  }

  #open({ chat, memory, number: preferred }: PlacedChat): Pane | null {
    const number = this.#freeNumbers.find((free) => free === preferred) ?? this.#freeNumbers[0];
    if (number === undefined) return null;
    this.#freeNumbers = this.#freeNumbers.filter((free) => free !== number);
    return new Pane(number, this.#context, chat, memory);
  }
}

/** Returns a copy of a chat. */
export function asNewChat(chat: SavedChat): SavedChat {
  const { id: _, ...copy } = chat;
  return copy;
}

/** Returns whether closing the pane loses nothing. */
function isEmpty(pane: Pane): boolean {
  return pane.store.getState().phase === "idle" && isBlank(pane.store.getState());
}
