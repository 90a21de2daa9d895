import { keptChoice } from "../remembered.ts";

/** The list of chats at the side of a wide window. */
export class ChatSide {
  readonly #choice = keptChoice("chats-at-side", ["shown", "hidden"]);
  /** Whether it is shown where the window is wide enough. */
  readonly store = this.#choice.store;
  #isCalled = false;

  toggle(): void {
    this.#isCalled = this.store.getState() === "hidden";
    this.#choice.next();
  }

  /** Returns whether somebody has asked for it since the last time: its search gets the focus then. */
  readonly takeCall = (): boolean => {
    const isCalled = this.#isCalled;
    this.#isCalled = false;
    return isCalled;
  };
}
