import type { BatchingMode, ChorusEngine, ChorusErrorData, EngineConfig } from "../../../index.ts";
import type { Route } from "../app/router.ts";
import { resultOf } from "../error-of.ts";
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
  /** The person's, or those that another tab has chosen for the engine that both share. */
  readonly settings: ServingSettings;
  /** The outcome of the settings in the page's link; null if it had none, or others were applied since. */
  readonly link: LinkOutcome | null;
  /** The mode while the demo sets it: people can't choose it then. Null: the settings have it. */
  readonly lockedMode: BatchingMode | null;
}

/** applied: on this visit they replace the settings kept in this browser. */
export type LinkOutcome =
  | { readonly status: "applied" }
  | { readonly status: "refused"; readonly error: ChorusErrorData };

/** Returns the settings to start with: those of the link, else those kept in this browser. */
export function openServing(route: Route | null): Omit<ServingState, "lockedMode"> {
  const linked = route === null ? null : readLink(route);
  if (linked === null) return { settings: keptSettings(), link: null };
  if (linked.error) return { settings: keptSettings(), link: { status: "refused", error: linked.error } };
  return { settings: linked.value, link: { status: "applied" } };
}

/** Returns the batching mode that counts now. */
export function modeOf({ settings, lockedMode }: ServingState): BatchingMode {
  return lockedMode ?? modeIn(settings);
}

function modeIn({ batchingMode = DEFAULT_MODE }: ServingSettings): BatchingMode {
  return batchingMode as BatchingMode; // checked
}

interface ServingOptions {
  readonly engine: EngineControl;
  readonly opened: Omit<ServingState, "lockedMode">;
  /** Called with the page's new link when its settings are no longer in use; "#/" for those kept in this browser. */
  readonly onLink: (link: string) => void;
}

/** How the page's engine serves, and the next one. Where tabs share an engine, each follows what the others choose. */
export class Serving {
  readonly #options: ServingOptions;
  readonly #store;
  readonly store: ReadonlyStore<ServingState>;
  /** While settings are applied, those of the engine change in turn. */
  #isApplying = false;
  #running: ChorusEngine | null = null;
  /** Choices of the mode that it has not taken yet. */
  #numPending = 0;
  /** The mode that it has reported since the last choice; null if none. */
  #reportedMode: BatchingMode | null = null;

  constructor(options: ServingOptions) {
    const { engine, opened } = (this.#options = options);
    this.store = this.#store = createStore<ServingState>(() => ({ ...opened, lockedMode: null }));
    engine.store.subscribe((state) => this.#watch(state.status === "ready" ? state.engine : null));
    engine.chosen.subscribe((now, before) => now.config !== before.config && this.#takeConfig(now.config));
  }

  /** Applies and keeps the settings. Resolves with the error if the engine can't start with them; it runs with those before. */
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
    const error = linked.error ?? (await this.#use(linked.value, { status: "applied" }));
    if (error) this.#store.setState({ link: { status: "refused", error } });
  }

  /** Chooses the mode at once, and keeps it in this browser. */
  chooseMode(mode: BatchingMode): void {
    if (this.#setMode(mode)) keep(checkServing({ ...keptSettings(), batchingMode: mode }));
    this.#applyMode();
  }

  /** Sets the mode for the demo; null: it is the person's again. */
  lockMode(lockedMode: BatchingMode | null): void {
    if (lockedMode === this.store.getState().lockedMode) return;
    this.#store.setState({ lockedMode });
    this.#applyMode();
  }

  async #use(settings: ServingSettings, link: LinkOutcome | null): Promise<ChorusErrorData | null> {
    const { engine } = this.#options;
    this.#isApplying = true;
    const error = await engine.reconfigure(engineConfigOf(settings), modeIn(settings));
    this.#isApplying = false;
    if (error) this.#takeConfig(engine.chosen.getState().config);
    else this.#store.setState({ settings, link });
    this.#applyMode();
    return error;
  }

  /** Another tab that shares the engine may change the settings. */
  #takeConfig(config: EngineConfig): void {
    if (this.#isApplying) return;
    const { settings: before, link } = this.store.getState();
    const settings = checkServing({ ...servingOf(config), batchingMode: before.batchingMode });
    this.#store.setState({ settings });
    const isSame = writeServingLink(settings) === writeServingLink(before);
    if (!this.#options.engine.isFollowing || link === null || isSame) return;
    this.#store.setState({ link: null });
    this.#options.onLink("#/");
  }

  #watch(engine: ChorusEngine | null): void {
    if (engine === this.#running) return;
    this.#running = engine;
    this.#reportedMode = null;
    engine?.on("config", ({ batchingMode }) => {
      if (engine !== this.#running) return;
      this.#reportedMode = batchingMode;
      this.#takeMode();
    });
    if (engine === null || engine.config.batchingMode === DEFAULT_MODE) return this.#applyMode();
    this.#reportedMode = engine.config.batchingMode;
    this.#takeMode();
  }

  /** Another tab that shares the engine may choose the mode, and keeps it. A pending choice, or the demo's, is newer. */
  #takeMode(): void {
    const isNewer = this.#numPending > 0 || this.#isApplying || this.store.getState().lockedMode !== null;
    if (this.#reportedMode !== null && !isNewer) this.#setMode(this.#reportedMode);
  }

  /** Returns whether it was another one. */
  #setMode(batchingMode: BatchingMode): boolean {
    const { settings: before, link } = this.store.getState();
    if (batchingMode === modeIn(before)) return false;
    const settings = checkServing({ ...before, batchingMode });
    this.#store.setState({ settings });
    if (link?.status === "applied") this.#options.onLink(writeServingLink(settings));
    return true;
  }

  #applyMode(): void {
    const [engine, batchingMode] = [this.#running, modeOf(this.store.getState())];
    this.#reportedMode = null;
    if (engine === null || this.#isApplying || (this.#numPending === 0 && engine.config.batchingMode === batchingMode))
      return;
    this.#numPending += 1;
    // It refuses only when it is gone, which its fatal event reports.
    const taken = () => {
      this.#numPending -= 1;
      this.#takeMode();
    };
    engine.update({ batchingMode }).then(taken, taken);
  }
}

/** Returns a link's serving settings; null if it has none. */
function readLink({ page, params }: Route) {
  return page !== "" || params.size === 0 ? null : resultOf(() => readServing(Object.fromEntries(params)));
}

function keptSettings(): ServingSettings {
  // They may be of another version.
  return rememberedJson(SERVING, (value, path) => checkServing({ ...anyObject(value, path) }), {});
}

function keep(settings: ServingSettings): void {
  remember(SERVING, JSON.stringify(settings));
}
