import { createStore, type ReadonlyStore } from "../store.ts";
import type { Pane } from "./pane.ts";

/** Shows all branches of one pane's chat. */
export class BranchView {
  readonly #store = createStore<{ readonly pane: Pane | null }>(() => ({ pane: null }));
  readonly store: ReadonlyStore<{ readonly pane: Pane | null }> = this.#store;

  readonly show = (pane: Pane): void => {
    this.#store.setState({ pane });
  };

  readonly close = (): void => {
    this.#store.setState({ pane: null });
  };
}
