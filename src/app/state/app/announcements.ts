import { createStore, type ReadonlyStore } from "../store.ts";

interface Announcement {
  readonly id: number;
  readonly text: string;
}

// Enough for all panes to end at once; a screen reader speaks additions only.
const KEPT = 16;

/** Announcements for screen readers: each answer once, when it has ended. */
export class Announcements {
  readonly #store = createStore<readonly Announcement[]>(() => []);
  readonly store: ReadonlyStore<readonly Announcement[]> = this.#store;
  #nextId = 0;

  readonly announce = (text: string): void => {
    this.#store.setState((kept) => [...kept, { id: this.#nextId++, text }].slice(-KEPT), true);
  };
}
