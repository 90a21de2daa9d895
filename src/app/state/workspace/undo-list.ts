import { createStore, type ReadonlyStore } from "../store.ts";

/** Something a person did that can be undone. */
export interface Undoable {
  /** What was done: "Pane 3 closed". */
  readonly title: string;
  /** Undoes it. Returns whether that was still possible. */
  readonly undo: () => boolean;
}

/** A line that says what just happened. */
export interface Toast {
  readonly title: string;
  /** Null: there is nothing to undo. */
  readonly undoable: Undoable | null;
}

interface UndoState {
  /** The newest is at the end. */
  readonly undoables: readonly Undoable[];
  /** Null: nothing is shown. */
  readonly toast: Toast | null;
}

/** As many as anybody remembers. */
const MAX_UNDOABLES = 50;

/** What was done to the panes and chats of this page, and can be undone, the newest first. */
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

  /** Undoes this, or else what was done last. */
  undo(undoable: Undoable | undefined = this.#store.getState().undoables.at(-1)): void {
    if (undoable === undefined) return;
    this.withdraw(undoable);
    if (!undoable.undo()) this.notify(`“${undoable.title}” can’t be undone any more`);
  }

  /** Forgets something that did not happen after all, or was undone elsewhere. */
  withdraw(undoable: Undoable): void {
    const { undoables, toast } = this.#store.getState();
    this.#store.setState({
      undoables: undoables.filter((other) => other !== undoable),
      toast: toast?.undoable === undoable ? null : toast,
    });
  }

  notify(title: string): void {
    this.#store.setState({ toast: { title, undoable: null } });
  }

  dismissToast(): void {
    this.#store.setState({ toast: null });
  }
}
