import type { AnswerMemory } from "../chat/answer-memory.ts";
import type { LikelyToken } from "../chat/answer-tokens.ts";
import { branchedTurn } from "../chat/branching.ts";
import { Pane, type PaneContext } from "../chat/pane.ts";
import type { ChatRecord } from "./chat-record.ts";
import { Chats, type Copied } from "./chats.ts";
import {
  asNewChat,
  isBlank,
  MAX_PANES,
  savedWorkspace,
  textOfChat,
  type NamedChat,
  type SavedChat,
  type SavedWorkspace,
} from "./saved-workspace.ts";
import { createStore, type ReadonlyStore, type StoreApi } from "../store.ts";
import { UndoList, type Undoable } from "./undo-list.ts";
import { randomId } from "../../../index.ts";

interface WorkspaceState {
  /** In display order. Never empty. */
  readonly panes: readonly Pane[];
  /** The pane in view if there is room for only one. */
  readonly current: number;
}

interface PlacedChat {
  readonly chat?: SavedChat;
  /** Memory of a chat that was in a pane before. [none] */
  readonly memory?: AnswerMemory;
  /** The pane's number, if it is free. [the least recently used one] */
  readonly number?: number;
  /** The pane's index. [the last] */
  readonly place?: number;
}

/** A chat that left its pane on this page. */
interface LeftChat {
  chat: NamedChat;
  readonly memory?: AnswerMemory;
}

/** Tokens of long chats take megabytes. */
const MAX_LEFT = 50;
const chatOf = (pane: Pane) => pane.toSaved();
const ALL_NUMBERS: readonly number[] = Array.from({ length: MAX_PANES }, (_, index) => index + 1);

/** The open panes. A closed pane's number, and so its colour, is reused last. */
export class Workspace {
  readonly store: ReadonlyStore<WorkspaceState>;
  readonly chats: Chats;
  readonly undoList = new UndoList();
  readonly #store: StoreApi<WorkspaceState>;
  readonly #context: PaneContext;
  #freeNumbers = [...ALL_NUMBERS];
  /** The chats that left their panes last, by id, until they are opened or deleted. */
  readonly #left = new Map<string, LeftChat>();

  constructor(context: PaneContext, saved: SavedWorkspace | null = null, chats = new Chats()) {
    this.#context = { ...context, onReplaced: this.#onReplaced };
    this.chats = chats;
    this.store = this.#store = createStore<WorkspaceState>(() => this.#opened(saved));
  }

  toSaved(): SavedWorkspace {
    const { panes, current } = this.#store.getState();
    const shared = this.#context.settings.getState();
    return savedWorkspace({ current, shared, panes: panes.map((pane) => ({ number: pane.number, ...chatOf(pane) })) });
  }

  /** Opens an empty pane. Returns null when sixteen are open. */
  addPane(): Pane | null {
    return this.#exchange([], [{}])[0] ?? null;
  }

  /** Opens a copy of a pane beside it, with the same chat and settings. Returns null when sixteen are open. */
  duplicatePane(pane: Pane): Pane | null {
    return this.#openBeside(pane, asNewChat(chatOf(pane)));
  }

  /** Opens a copy beside this pane, up to an answer and without variants. Both share their beginning in the prefix cache. */
  forkPane(pane: Pane, turnId: number): Pane | null {
    const chat = asNewChat(chatOf(pane));
    const numTurns = chat.turns.findIndex(({ id }) => id === turnId) + 1;
    const contextStart = Math.min(chat.contextStart, Math.max(0, numTurns - 1));
    const turns = chat.turns.slice(0, numTurns);
    return this.#openBeside(pane, { ...chat, turns, inactiveTurns: [], contextStart, draft: "" });
  }

  /** Opens a pane beside this one that goes on from a token of an answer, by its index, with another one. */
  branchPane(pane: Pane, turnId: number, token: number, other: LikelyToken): Pane | null {
    const chat = asNewChat(chatOf(pane));
    const at = chat.turns.findIndex(({ id }) => id === turnId);
    const turn = chat.turns[at];
    const tokens = pane.memory.tokens.of(turnId);
    if (turn === undefined || tokens === null) return null;
    const { likeliest = [] } = tokens.answer[token] ?? {};
    const answer = [...tokens.answer.slice(0, token), { ...other, likeliest }];
    const turns = [...chat.turns.slice(0, at), branchedTurn(turn, answer)];
    const contextStart = Math.min(chat.contextStart, at);
    const opened = this.#openBeside(pane, { ...chat, turns, inactiveTurns: [], contextStart, draft: "" });
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
    const { number } = pane;
    const left = this.#leave({ chat: chatOf(pane), memory: pane.memory });
    this.#exchange([pane], []);
    const nextPane = this.#panes()[place] ?? this.#panes().at(-1) ?? null;
    const undo = () => {
      if (!this.#canComeBack(left)) return false;
      // If that was the last pane, an empty one replaced it.
      const taken = this.#panes().filter((other) => other === nextPane && !before.includes(other) && isEmpty(other));
      return this.#exchange(taken, [{ ...left, number, place }]).length > 0;
    };
    this.undoList.add({ title: `Pane ${number} closed`, undo });
    return nextPane;
  }

  /** Begins a new chat in a pane, whose settings and draft stay. The one before is in the list of chats. */
  newChat(pane: Pane): void {
    pane.stop();
    const chat = { ...chatOf(pane), draft: "" };
    if (chat.turns.length === 0) return;
    const left = this.#leave({ chat });
    this.chats.put([chat]);
    pane.replaceChat();
    pane.rename("");
    const { id } = pane.store.getState();
    const undo = () => {
      const emptied = this.#paneOf(id);
      if (!this.#canComeBack(left) || emptied === undefined || emptied.store.getState().turns.length > 0) return false;
      emptied.replaceChat(left.chat);
      emptied.rename(left.chat.title ?? "");
      this.#take(left.chat.id);
      // It may have been named, and stored.
      this.chats.delete([id]);
      return true;
    };
    this.undoList.add({ title: "New chat: the one before is in the list of chats", undo });
  }

  /**
   * Opens a chat that is in no pane in the place of the current pane, whose chat is in the list then. If that pane is busy, or
   * `isBeside`, it takes an empty pane or a new one. Returns null if it was deleted.
   * @param record as it is stored
   */
  reopen(id: string, record: ChatRecord | null, isBeside = false): Pane | "no room" | null {
    const open = this.#paneOf(id);
    if (open) return open;
    const { panes, current } = this.#store.getState();
    const isFree = (pane: Pane) => pane.number === current && !isBeside && pane.store.getState().phase === "idle";
    const before = panes.find(isFree) ?? panes.find(isEmpty);
    if (before === undefined && this.#freeNumbers.length === 0) return "no room";
    const chat = this.chats.toOpen(id, record);
    if (chat === null) return null;
    const left = this.#left.get(id);
    // Another tab may have changed it.
    const memory = left && textOfChat(left.chat) === textOfChat(chat) ? left.memory : undefined;
    if (before && !isEmpty(before)) this.#leave({ chat: chatOf(before), memory: before.memory });
    const place = before && { number: before.number, place: panes.indexOf(before) };
    return this.#exchange(before ? [before] : [], [{ chat, ...(memory && { memory }), ...place }])[0] ?? null;
  }

  /** Goes on with a chat under its new id, in its pane or for undoing. Returns whether a pane shows it. */
  goOnAs({ id, chat: before, copy }: Copied): boolean {
    const pane = this.#paneOf(id);
    const isOpen = this.#paneOf(copy.id) !== undefined;
    // Two panes never have one chat: each would replace the words of the other.
    const named = pane && isOpen ? { ...copy, id: randomId() } : copy;
    this.undoList.goOnAs(id, named.id);
    pane?.goOnAs(named, before);
    const left = this.#left.get(id);
    this.#left.delete(id);
    if (left && !isOpen) {
      const { title } = left.chat;
      left.chat = { ...left.chat, id: copy.id, title: title === before.title ? copy.title : title };
      this.#left.set(copy.id, left);
    }
    return pane !== undefined || isOpen;
  }

  /** Deletes chats that are in no pane. @param records as they were read */
  deleteForGood(records: readonly ChatRecord[]): void {
    const ids = records.map(({ chat }) => chat.id);
    for (const id of ids) this.#left.delete(id);
    this.chats.delete(ids, records);
  }

  /** Opens each chat in a pane, replacing empty panes. Those without room are in the list of chats: `ids` are theirs. */
  addChats(chats: readonly SavedChat[]) {
    const empty = this.#panes().filter(isEmpty);
    const replaced = empty.map((pane) => ({
      chat: chatOf(pane),
      number: pane.number,
      place: this.#panes().indexOf(pane),
    }));
    const panes = this.#exchange(
      empty,
      chats.map((chat) => ({ chat })),
    );
    return { panes, ids: this.#put(chats.slice(panes.length)), replaced };
  }

  /** Opens the chats of a file, as `addChats` does. @param listed chats for the list, maybe thousands */
  importChats(chats: readonly SavedChat[], listed: readonly SavedChat[]) {
    const listedIds = this.#put(listed);
    const opened = this.addChats(chats);
    const numChats = chats.length + listed.length;
    const added = { ...opened, ids: [...opened.ids, ...listedIds] };
    const before = new Map(added.panes.map((pane) => [chatOf(pane).id, textOfChat(chatOf(pane))]));
    const undo = () => {
      const panes = this.#panes().filter((pane) => before.has(chatOf(pane).id));
      for (const pane of panes) pane.stop();
      const same = panes.map(chatOf).filter((chat) => before.get(chat.id) === textOfChat(chat));
      this.#exchange(panes, added.replaced);
      this.chats.delete([...added.ids, ...same.map(({ id }) => id)]);
      return true;
    };
    this.undoList.add({ title: `${numChats} chat${numChats === 1 ? "" : "s"} imported`, undo });
    return added;
  }

  select(number: number): void {
    if (number !== this.#store.getState().current) this.#store.setState({ current: number });
  }

  #panes(): readonly Pane[] {
    return this.#store.getState().panes;
  }

  #paneOf(chatId: string | undefined): Pane | undefined {
    return this.#panes().find((pane) => pane.store.getState().id === chatId);
  }

  /** Adds chats to those in no pane, unless they are empty. Returns their ids. */
  #put(chats: readonly SavedChat[]): readonly string[] {
    const named = chats.filter((chat) => !isBlank(chat)).map((chat) => ({ id: randomId(), ...chat }));
    this.chats.put(named);
    return named.map(({ id }) => id);
  }

  /** Notes a chat that leaves its pane, for undoing. */
  #leave(left: LeftChat): LeftChat {
    this.#left.delete(left.chat.id);
    this.#left.set(left.chat.id, left);
    const [oldest] = this.#left.keys();
    if (this.#left.size > MAX_LEFT && oldest !== undefined) this.#left.delete(oldest);
    return left;
  }

  /** Notes that a chat is in a pane again. */
  #take(id: string): void {
    this.chats.take(id);
    this.#left.delete(id);
  }

  /** Returns whether a chat was neither opened nor deleted since it left its pane. */
  #canComeBack(left: LeftChat): boolean {
    return this.#left.get(left.chat.id) === left;
  }

  readonly #onReplaced = (pane: Pane, what: "answer" | "question", lastTurnId: number) => {
    const undo = () => {
      const now = this.#paneOf(undoable.chatId);
      now?.stop();
      now?.chooseTurn(lastTurnId);
      return now !== undefined;
    };
    const title = what === "answer" ? "Answer regenerated" : "Question edited";
    const undoable: Undoable = { title, chatId: pane.store.getState().id, undo };
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

  /** Closes panes and opens others while there is room, at least one. The first new pane comes into view, or a successor. */
  #exchange(closed: readonly Pane[], placed: readonly PlacedChat[]): readonly Pane[] {
    const { panes, current } = this.#store.getState();
    for (const pane of closed) pane.close();
    this.chats.put(closed.map(chatOf));
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
    const pane = new Pane(number, this.#context, chat, memory);
    this.#take(chatOf(pane).id);
    return pane;
  }
}

/** Returns whether closing the pane loses nothing. */
function isEmpty(pane: Pane): boolean {
  return pane.store.getState().phase === "idle" && isBlank(pane.store.getState());
}
