import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const NAME = "chats-at-side";

interface ChatSideState {
  /** Whether the list is shown where the window is wide enough. Remembered. */
  readonly isShown: boolean;
}

/** The list of chats at the side of a wide window. */
export class ChatSide {
  readonly #store = createStore<ChatSideState>(() => ({ isShown: remembered(NAME) !== "hidden" }));
  readonly store: ReadonlyStore<ChatSideState> = this.#store;
  #isCalled = false;

  toggle(): void {
    const isShown = !this.#store.getState().isShown;
    remember(NAME, isShown ? "shown" : "hidden");
    this.#isCalled = isShown;
    this.#store.setState({ isShown });
  }

  /** Returns whether somebody has asked for it since the last time: its search gets the focus then. */
  readonly takeCall = (): boolean => {
    const isCalled = this.#isCalled;
    this.#isCalled = false;
    return isCalled;
  };
}
