import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

const CHOICES = ["system", "light", "dark"] as const;
export type ThemeChoice = (typeof CHOICES)[number];

const NAME = "theme";

/**
 * The light or dark theme: the system's, or the one the person chose. It is remembered and set on the document's root.
 */
export class Theme {
  readonly #store = createStore<ThemeChoice>(readChoice);
  readonly store: ReadonlyStore<ThemeChoice> = this.#store;
  readonly #systemIsDark = matchMedia("(prefers-color-scheme: dark)");

  constructor() {
    this.#systemIsDark.addEventListener("change", this.#apply);
    this.#apply();
  }

  /** Switches to the next theme: system, light, dark, system ... */
  next(): void {
    this.choose(CHOICES[(CHOICES.indexOf(this.#store.getState()) + 1) % CHOICES.length] ?? "system");
  }

  choose(choice: ThemeChoice): void {
    this.#store.setState(choice, true);
    remember(NAME, choice);
    this.#apply();
  }

  readonly #apply = (): void => {
    const choice = this.#store.getState();
    const isDark = choice === "dark" || (choice === "system" && this.#systemIsDark.matches);
    document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  };
}

function readChoice(): ThemeChoice {
  const stored = remembered(NAME);
  return CHOICES.find((choice) => choice === stored) ?? "system";
}
