import { withSetting, type SettingName, type Settings, type SettingValue } from "./settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** What is set for all panes at once; a pane's own settings count before it. */
export class SharedSettings {
  /** What the page's address asks for, on this visit only. Counts before what is set for all. */
  readonly address: Settings;
  readonly #store = createStore<Settings>(() => ({}));
  readonly store: ReadonlyStore<Settings> = this.#store;

  constructor(address: Settings = {}, saved: Settings = {}) {
    this.address = address;
    this.#store.setState(saved, true);
  }

  set(name: SettingName, value: SettingValue | null): void {
    this.#store.setState(withSetting(this.#store.getState(), name, value), true);
  }

  replace(settings: Settings): void {
    this.#store.setState(settings, true);
  }

  /** What a pane with none of its own has. */
  inherited(): Settings {
    return { ...this.#store.getState(), ...this.address };
  }
}
