import type { FieldValue } from "./field.ts";
import { withSetting, type SettingName, type Settings } from "./settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** The settings for all panes. A pane's own settings override them. */
export class SharedSettings {
  /** Settings from the page's address. They override the settings for all panes on this visit. */
  readonly address: Settings;
  readonly #store = createStore<Settings>(() => ({}));
  readonly store: ReadonlyStore<Settings> = this.#store;

  constructor(address: Settings = {}, saved: Settings = {}) {
    this.address = address;
    this.#store.setState(saved, true);
  }

  set(name: SettingName, value: FieldValue | null): void {
    this.#store.setState(withSetting(this.#store.getState(), name, value), true);
  }

  replace(settings: Settings): void {
    this.#store.setState(settings, true);
  }

  /** Returns the settings of a pane that has none of its own. */
  inherited(): Settings {
    return { ...this.#store.getState(), ...this.address };
  }
}
