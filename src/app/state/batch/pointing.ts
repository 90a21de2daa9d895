import { shallow } from "zustand/vanilla/shallow";
import { createStore, type ReadonlyStore } from "../store.ts";

/** Tokens that a person points at: in an answer's text, on the timeline or on the cache map. */
export interface Pointed {
  /** The page's name of the request, and the index of the choice. */
  readonly requestName: string;
  readonly index: number;
  /** The range [from, to) of its output tokens. */
  readonly from: number;
  readonly to: number;
  /** Where the person points. card: at a word that shows a card of its own. */
  readonly by: "words" | "card" | "timeline" | "map";
}

/** Links the words of the chats and the cells of the batch: if a person points at one, the other is marked. */
export class Pointing {
  readonly #store = createStore<Pointed | null>(() => null);
  readonly store: ReadonlyStore<Pointed | null> = this.#store;

  point(at: Pointed): void {
    if (!shallow(at, this.#store.getState())) this.#store.setState(at, true);
  }

  /** Ends this part's pointing; another part's stays. */
  leave(by: Pointed["by"]): void {
    if (this.#store.getState()?.by === by) this.#store.setState(null, true);
  }
}
