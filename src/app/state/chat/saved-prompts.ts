import { anything, listOf } from "../read-record.ts";
import { remember, remembered, rememberedJson } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const NAME = "prompts";
const MAX_PROMPTS = 100;

/** Texts that a person wants to ask again, the newest first. Kept in this browser. */
export class SavedPrompts {
  readonly #store = createStore<readonly string[]>(read);
  readonly store: ReadonlyStore<readonly string[]> = this.#store;

  /** Adds a text, or puts it first if it is there already. Does nothing if it is empty. */
  add(text: string): void {
    const added = text.trim();
    this.refresh();
    if (added !== "") this.#keep([added, ...this.#without(added)].slice(0, MAX_PROMPTS));
  }

  remove(text: string): void {
    this.refresh();
    this.#keep(this.#without(text));
  }

  /** Takes over what other tabs have changed. */
  readonly refresh = (): void => {
    if (remembered(NAME) !== null) this.#store.setState(read(), true);
  };

  #without(text: string): readonly string[] {
    return this.#store.getState().filter((other) => other !== text);
  }

  #keep(prompts: readonly string[]): void {
    this.#store.setState(prompts, true);
    remember(NAME, JSON.stringify(prompts));
  }
}

function read(): readonly string[] {
  const prompts: readonly unknown[] = rememberedJson(NAME, listOf(anything), []);
  return prompts.filter((one) => typeof one === "string").slice(0, MAX_PROMPTS);
}
