import { createStore, type ReadonlyStore } from "../store.ts";

/** Tokens that a person points at: in an answer's text, on the timeline or on the cache map. */
export interface Pointed {
  /** The name that the page gave the request, and which of its choices. */
  readonly requestName: string;
  readonly index: number;
  /** Tokens of its output: from the first one to before the second. */
  readonly from: number;
  readonly to: number;
  /** Where the person points. card: at a word whose own card tells all about it. */
  readonly by: "words" | "card" | "timeline" | "map";
}

/** What links the words of the chats and the cells of the batch: what one part points at, the others mark. */
export class Pointing {
  readonly #store = createStore<Pointed | null>(() => null);
  readonly store: ReadonlyStore<Pointed | null> = this.#store;

  point(at: Pointed): void {
    if (!isSame(at, this.#store.getState())) this.#store.setState(at, true);
  }

  /** Nothing is pointed at any more by this part; what another one points at stays. */
  leave(by: Pointed["by"]): void {
    if (this.#store.getState()?.by === by) this.#store.setState(null, true);
  }
}

const KEYS = ["requestName", "index", "from", "to", "by"] as const satisfies readonly (keyof Pointed)[];

function isSame(one: Pointed, other: Pointed | null): boolean {
  return other !== null && KEYS.every((key) => one[key] === other[key]);
}
