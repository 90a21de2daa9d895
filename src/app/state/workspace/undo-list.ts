import { createStore, type ReadonlyStore } from "../store.ts";

export interface Undoable {
  /** The action's title: "Pane 3 closed". */
  readonly title: string;
  /** Undoes it. Returns whether that was still possible. */
  readonly undo: () => boolean;
  /** The chat that it changes, as it is named now. */
  chatId?: string;
}

interface Offer {
  readonly label: string;
  readonly run: () => unknown;
}

/** A line about the latest event. */
export interface Toast {
  readonly title: string;
  /** Null if there is nothing to undo. */
  readonly undoable: Undoable | null;
  /** What can be done about it. */
  readonly offer?: Offer | undefined;
}

interface UndoState {
  /** The newest is at the end. */
  readonly undoables: readonly Undoable[];
  readonly toast: Toast | null;
}

const MAX_UNDOABLES = 50;

/** The actions on this page's panes and chats that can be undone, the newest first. */
export class UndoList {
  readonly #store = createStore<UndoState>(() => ({ undoables: [], toast: null }));
  readonly store: ReadonlyStore<UndoState> = this.#store;

  add(undoable: Undoable): void {
    const { undoables } = this.#store.getState();
    this.#store.setState({
      undoables: [...undoables, undoable].slice(-MAX_UNDOABLES),
      toast: { title: undoable.title, undoable },
    });
  }

  /** Undoes this action, or else the last one. */
  undo(undoable: Undoable | undefined = this.#store.getState().undoables.at(-1)): void {
    if (undoable === undefined) return;
    this.withdraw(undoable);
    if (!undoable.undo()) this.notify(`“${undoable.title}” can’t be undone any more`);
  }

  /** Forgets an action that failed, or was undone elsewhere. */
  withdraw(undoable: Undoable): void {
    const { undoables, toast } = this.#store.getState();
    this.#store.setState({
      undoables: undoables.filter((other) => other !== undoable),
      toast: toast?.undoable === undoable ? null : toast,
    });
  }

  /** Notes that a chat goes on with another id. */
  goOnAs(id: string, newId: string): void {
    for (const undoable of this.#store.getState().undoables) if (undoable.chatId === id) undoable.chatId = newId;
  }

  notify(title: string, offer?: Offer): void {
    this.#store.setState({ toast: { title, undoable: null, offer } });
  }

  dismissToast(): void {
    this.#store.setState({ toast: null });
  }
}
