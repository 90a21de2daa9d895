import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const NAME = "singleKeys";

/**
 * Whether a key of one character, without a modifier, does anything. Who dictates to a computer presses such keys
 * unawares, so that they can be turned off (WCAG 2.1.4).
 */
export class SingleKeys {
  readonly #store = createStore<boolean>(() => remembered(NAME) !== "off");
  readonly store: ReadonlyStore<boolean> = this.#store;

  turn(isOn: boolean): void {
    this.#store.setState(isOn, true);
    remember(NAME, isOn ? "on" : "off");
  }
}
