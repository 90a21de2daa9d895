import { createStore, type ReadonlyStore } from "../store.ts";

interface OpenedDialog<Request> {
  /** Another one at each opening. */
  readonly number: number;
  readonly request: Request;
}

/** The modal dialog that is open; at most one is. */
export class Overlay<Request> {
  readonly #store = createStore<OpenedDialog<Request> | null>(() => null);
  readonly store: ReadonlyStore<OpenedDialog<Request> | null> = this.#store;
  #numOpened = 0;

  /** Opens a dialog in place of the one that is open. */
  open(request: Request): void {
    this.#store.setState({ number: ++this.#numOpened, request }, true);
  }

  /** Closes the dialog, unless another one has replaced it. */
  close(opened: OpenedDialog<Request> | null = this.#store.getState()): void {
    if (opened === this.#store.getState()) this.#store.setState(null, true);
  }
}
