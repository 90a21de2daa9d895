import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const NAME = "singleKeys";

/**
 * Whether shortcuts of a single character, without a modifier, work. They can be turned off (WCAG 2.1.4), since
 * dictation software may press such keys by accident.
 */
export class SingleKeys {
  readonly #store = createStore<boolean>(() => remembered(NAME) !== "off");
  readonly store: ReadonlyStore<boolean> = this.#store;

  turn(isOn: boolean): void {
    this.#store.setState(isOn, true);
    remember(NAME, isOn ? "on" : "off");
  }
}
