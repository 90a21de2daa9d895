import { createStore, type ReadonlyStore } from "../store.ts";

interface OpenedDialog<Content> {
  /** Another one at each opening. */
  readonly number: number;
  readonly content: Content;
}

/** The modal dialog that is open; at most one is. */
export class Overlay<Content> {
  readonly #store = createStore<OpenedDialog<Content> | null>(() => null);
  readonly store: ReadonlyStore<OpenedDialog<Content> | null> = this.#store;
  #numOpened = 0;

  /** Opens a dialog in place of the one that is open. */
  open(content: Content): void {
    this.#store.setState({ number: ++this.#numOpened, content }, true);
  }

  /** Closes the dialog, unless another one has replaced it. */
  close(opened: OpenedDialog<Content> | null = this.#store.getState()): void {
    if (opened === this.#store.getState()) this.#store.setState(null, true);
  }
}
