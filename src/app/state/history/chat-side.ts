import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const NAME = "chats-at-side";

interface ChatSideState {
  /** Whether the list is shown where the window is wide enough. Remembered. */
  readonly isShown: boolean;
  /** Whether somebody has asked for it on this page: its search gets the focus then. */
  readonly isCalled: boolean;
}

/** The list of chats at the side of a wide window. */
export class ChatSide {
  readonly #store = createStore<ChatSideState>(() => ({ isShown: remembered(NAME) !== "hidden", isCalled: false }));
  readonly store: ReadonlyStore<ChatSideState> = this.#store;

  toggle(): void {
    const isShown = !this.#store.getState().isShown;
    remember(NAME, isShown ? "shown" : "hidden");
    this.#store.setState({ isShown, isCalled: true });
  }
}
