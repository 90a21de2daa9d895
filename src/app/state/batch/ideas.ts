import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const SEEN = "ideas";

/** Whether ideas to try take the place of a batch in which nothing has run yet: once in a browser. */
export class Ideas {
  readonly #store = createStore<boolean>(() => remembered(SEEN) === null);
  readonly store: ReadonlyStore<boolean> = this.#store;

  /** To be called when they are on the page: on the next visit they don't come by themselves. */
  markSeen(): void {
    remember(SEEN, "seen");
  }

  close(): void {
    if (this.#store.getState()) this.#store.setState(false, true);
  }
}
