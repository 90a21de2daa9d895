import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const SEEN = "ideas";

/** Shows ideas to try instead of an empty batch, once per browser. */
export class Ideas {
  readonly #store = createStore<boolean>(() => remembered(SEEN) === null);
  readonly store: ReadonlyStore<boolean> = this.#store;

  /** Call it when they are on the page: on the next visit they don't appear by themselves. */
  markSeen(): void {
    remember(SEEN, "seen");
  }

  close(): void {
    if (this.#store.getState()) this.#store.setState(false, true);
  }
}
