import { Pane, type PaneContext } from "../chat/pane.ts";
import { MAX_PANES, savedWorkspace, type SavedChat, type SavedWorkspace } from "./saved-workspace.ts";
import { createStore, type ReadonlyStore, type StoreApi } from "../store.ts";

export { MAX_PANES };

interface WorkspaceState {
  /** In display order. Never empty. */
  readonly panes: readonly Pane[];
  /** The pane in view where there is room for only one. */
  readonly current: number;
}

const ALL_NUMBERS: readonly number[] = Array.from({ length: MAX_PANES }, (_, index) => index + 1);

/** The open panes. A closed pane's number, and so its colour, is reused last. */
export class Workspace {
  readonly store: ReadonlyStore<WorkspaceState>;
  readonly #store: StoreApi<WorkspaceState>;
  readonly #context: PaneContext;
  #freeNumbers = [...ALL_NUMBERS];

  constructor(context: PaneContext, saved: SavedWorkspace | null = null) {
    this.#context = context;
    this.store = this.#store = createStore<WorkspaceState>(() => this.#opened(saved));
  }

  /** Replaces all open panes by the saved ones. */
  restore(saved: SavedWorkspace): void {
    for (const pane of this.#store.getState().panes) pane.close();
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
    const pane = this.#open();
    if (pane) this.#insert(pane, this.#store.getState().panes.length);
    return pane;
  }

  /** Opens a copy of a pane beside it, with the same chat and settings. Returns null when sixteen are open. */
  duplicatePane(pane: Pane): Pane | null {
    return this.#openBeside(pane, pane.toSaved());
  }

  /**
   * Opens a pane beside this one with the conversation up to an answer. Both share their beginning in the prefix cache.
   */
  forkPane(pane: Pane, turnId: number): Pane | null {
    const chat = pane.toSaved();
    const numTurns = chat.turns.findIndex(({ id }) => id === turnId) + 1;
    const firstSent = Math.min(chat.firstSent, Math.max(0, numTurns - 1));
    return this.#openBeside(pane, { ...chat, turns: chat.turns.slice(0, numTurns), firstSent, draft: "" });
  }

  /** Swaps a pane with its neighbour: -1 is left, 1 is right. */
  movePane(pane: Pane, steps: number): void {
    this.movePaneTo(pane, this.#store.getState().panes.indexOf(pane) + steps);
  }

  /** @param place its index afterwards */
  movePaneTo(pane: Pane, place: number): void {
    const { panes } = this.#store.getState();
    if (place < 0 || place >= panes.length || panes[place] === pane) return;
    const others = panes.filter((other) => other !== pane);
    this.#store.setState({ panes: [...others.slice(0, place), pane, ...others.slice(place)] });
  }

  /** Closes a pane and returns the one that replaces it: its neighbour, or a new one if it was the last. */
  closePane(closed: Pane): Pane | null {
    const { panes, current } = this.store.getState();
    const at = panes.indexOf(closed);
    if (at < 0) return null;
    closed.close();
    const others = panes.filter((pane) => pane !== closed);
    const heir = others[at] ?? others[at - 1] ?? this.#open();
    this.#freeNumbers.push(closed.number);
    if (heir === null) return null;
    this.#store.setState({
      panes: others.length > 0 ? others : [heir],
      current: current === closed.number ? heir.number : current,
    });
    return heir;
  }

  /** Returns how many chats `addChats` has room for. Empty panes are replaced. */
  room(): number {
    return this.#freeNumbers.length + this.#store.getState().panes.filter(isEmpty).length;
  }

  /** Opens each chat in a pane and replaces empty panes. There must be room. */
  addChats(chats: readonly SavedChat[]): void {
    const kept = this.#store.getState().panes.filter((pane) => !isEmpty(pane));
    for (const pane of this.#store.getState().panes.filter(isEmpty)) {
      pane.close();
      this.#freeNumbers.unshift(pane.number);
    }
    const added = chats.flatMap((chat) => this.#open(chat) ?? []);
    const current = added[0]?.number ?? kept[0]?.number ?? 1;
    this.#store.setState({ panes: [...kept, ...added], current });
  }

  select(number: number): void {
    if (number !== this.#store.getState().current) this.#store.setState({ current: number });
  }

  /** Opens the saved panes, or one empty pane. All numbers must be free. */
  #opened(saved: SavedWorkspace | null): WorkspaceState {
    const panes = saved?.panes.map((pane) => new Pane(pane.number, this.#context, pane)) ?? [];
    this.#freeNumbers = this.#freeNumbers.filter((free) => !panes.some(({ number }) => number === free));
    const first = panes[0] ?? this.#open();
    const current = panes.find(({ number }) => number === saved?.current) ?? first;
    return { panes: panes.length > 0 || !first ? panes : [first], current: current?.number ?? 1 };
  }

  #openBeside(pane: Pane, chat: SavedChat): Pane | null {
    const opened = this.#open(chat);
    if (opened) this.#insert(opened, this.#store.getState().panes.indexOf(pane) + 1);
    return opened;
  }

  #insert(pane: Pane, place: number): void {
    const { panes } = this.#store.getState();
    this.#store.setState({ panes: [...panes.slice(0, place), pane, ...panes.slice(place)], current: pane.number });
  }

  #open(chat?: SavedChat): Pane | null {
    const number = this.#freeNumbers.shift();
    return number === undefined ? null : new Pane(number, this.#context, chat);
  }
}

/** Returns whether closing the pane loses nothing. */
function isEmpty(pane: Pane): boolean {
  const { turns, draft, title, phase } = pane.store.getState();
  return turns.length === 0 && draft.trim() === "" && title === null && phase === "idle";
}
