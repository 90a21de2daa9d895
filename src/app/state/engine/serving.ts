import { toErrorData, type BatchingMode, type ChorusErrorData, type EngineConfig } from "../../../index.ts";
import type { Route } from "../app/router.ts";
import type { BatchingModeControl } from "../batch/batching-mode.ts";
import { anyObject } from "../read-record.ts";
import { remember, rememberedJson } from "../remembered.ts";
import {
  checkServing,
  engineConfigOf,
  readServing,
  servingOf,
  DEFAULT_MODE,
  writeServingLink,
  type ServingSettings,
} from "../settings/serving-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { EngineControl } from "./engine-control.ts";

const SERVING = "serving";

export interface ServingState {
  readonly settings: ServingSettings;
  /** The outcome of the settings in the page's link; null if it had none, or others were applied since. */
  readonly link: LinkOutcome | null;
}

/** applied: on this visit they replace the settings kept in this browser. */
export type LinkOutcome =
  | { readonly status: "applied" }
  | { readonly status: "refused"; readonly error: ChorusErrorData };

/** Returns the settings to start with: those of the link, else those kept in this browser. */
export function openServing(route: Route | null): ServingState {
  const linked = route === null ? null : readLink(route);
  if (linked === null) return { settings: keptSettings(), link: null };
  if ("error" in linked) return { settings: keptSettings(), link: { status: "refused", error: linked.error } };
  return { settings: linked.settings, link: { status: "applied" } };
}

interface ServingOptions {
  readonly engine: EngineControl;
  readonly mode: BatchingModeControl;
  readonly opened: ServingState;
  /** Called with the page's new link when its settings are no longer in use; "#/" for those kept in this browser. */
  readonly onLink: (link: string) => void;
}

/** The serving settings of the page's engine. Some change while it runs; all others restart it. */
export class Serving {
  readonly #options: ServingOptions;
  readonly #store;
  readonly store: ReadonlyStore<ServingState>;
  /** While settings are applied, the engine's and the mode's stores change in turn. */
  #isApplying = false;

  constructor(options: ServingOptions) {
    const { engine, mode, opened } = (this.#options = options);
    this.store = this.#store = createStore<ServingState>(() => opened);
    mode.choose(modeOf(opened.settings));
    mode.store.subscribe(this.#takeMode);
    engine.chosen.subscribe((now, before) => now.config !== before.config && this.#takeConfig(now.config));
  }

  /** Whether the engine must restart to take these settings. */
  needsRestart(settings: ServingSettings): boolean {
    return this.#options.engine.needsRestart(engineConfigOf(settings));
  }

  /**
   * Applies the settings and keeps them in this browser. Resolves with the error if the engine can't start with them; it
   * then runs with those before.
   */
  async apply(settings: ServingSettings): Promise<ChorusErrorData | null> {
    const error = await this.#use(settings, null);
    if (error) return error;
    keep(settings);
    this.#options.onLink("#/");
    return null;
  }

  /** Applies a link's settings, on this visit only. A link without any changes nothing. */
  async follow(route: Route): Promise<void> {
    const linked = readLink(route);
    if (linked === null) return;
    const error = "error" in linked ? linked.error : await this.#use(linked.settings, { status: "applied" });
    if (error) this.#store.setState({ link: { status: "refused", error } });
  }

  async #use(settings: ServingSettings, link: LinkOutcome | null): Promise<ChorusErrorData | null> {
    this.#isApplying = true;
    const error = await this.#options.engine.reconfigure(engineConfigOf(settings), modeOf(settings));
    this.#isApplying = false;
    if (error) this.#takeConfig(this.#options.engine.chosen.getState().config);
    if (error) return error;
    this.#store.setState({ settings, link });
    this.#options.mode.choose(modeOf(settings));
    return null;
  }

  /** Another tab that shares the engine may change the settings. */
  readonly #takeConfig = (config: EngineConfig): void => {
    if (this.#isApplying) return;
    const { settings: before, link } = this.store.getState();
    const settings = checkServing({ ...servingOf(config), batchingMode: before.batchingMode });
    this.#store.setState({ settings });
    if (!this.#options.engine.isFollowing || link === null || writeServingLink(settings) === writeServingLink(before))
      return;
    this.#store.setState({ link: null });
    this.#options.onLink("#/");
  };

  /** The mode can also be chosen in the bar, and in other tabs, which keep it. While the demo holds it, it is not the person's. */
  readonly #takeMode = (batchingMode: BatchingMode): void => {
    const { settings: before, link } = this.store.getState();
    if (this.#isApplying || this.#options.mode.held.getState() || batchingMode === modeOf(before)) return;
    const settings = checkServing({ ...before, batchingMode });
    this.#store.setState({ settings });
    if (link?.status === "applied") this.#options.onLink(writeServingLink(settings));
    if (!this.#options.mode.isFollowing) keep(checkServing({ ...keptSettings(), batchingMode }));
  };
}

/** Returns a link's serving settings; null if it has none. */
function readLink({
  page,
  params,
}: Route): { readonly settings: ServingSettings } | { readonly error: ChorusErrorData } | null {
  if (page !== "" || params.size === 0) return null;
  try {
    return { settings: readServing(Object.fromEntries(params)) };
  } catch (error) {
    return { error: toErrorData(error) };
  }
}

function keptSettings(): ServingSettings {
  // They may be of another version.
  return rememberedJson(SERVING, (value, path) => checkServing({ ...anyObject(value, path) }), {});
}

function keep(settings: ServingSettings): void {
  remember(SERVING, JSON.stringify(settings));
}

function modeOf({ batchingMode = DEFAULT_MODE }: ServingSettings): BatchingMode {
  return batchingMode as BatchingMode; // checked
}
