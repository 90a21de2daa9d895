import { parseJson, toErrorData, type ChorusErrorData, type EngineConfig } from "../../../index.ts";
import type { Route } from "../app/router.ts";
import { remember, remembered } from "../remembered.ts";
import {
  checkServing,
  engineConfigOf,
  readServing,
  servingOf,
  writeServingLink,
  type ServingSettings,
} from "../settings/serving-settings.ts";
import type { ServingName, ServingValue } from "../settings/serving-fields.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { EngineControl } from "./engine-control.ts";

const SERVING = "serving";
/** Where an earlier version kept the thresholds of alerts. */
const ALERTS = "alerts";

/** applied: on this visit they replace the settings kept in this browser. */
export type LinkOutcome =
  | { readonly status: "applied" }
  | { readonly status: "refused"; readonly error: ChorusErrorData };

interface OpenedServing {
  readonly settings: ServingSettings;
  /** Null: the page's link had no settings. */
  readonly link: LinkOutcome | null;
}

/** Returns the settings to start with: those of the link, else those kept in this browser. */
export function openServing(route: Route | null): OpenedServing {
  const linked = route === null ? null : readLink(route);
  if (linked === null) return { settings: keptSettings(), link: null };
  if ("error" in linked) return { settings: keptSettings(), link: { status: "refused", error: linked.error } };
  return { settings: linked.settings, link: { status: "applied" } };
}

interface ServingOptions {
  readonly engine: EngineControl;
  readonly opened: OpenedServing;
  /** Called with the page's new link when its settings are no longer in use; "#/" for those kept in this browser. */
  readonly onLink: (link: string) => void;
}

/** The serving settings of the page's engine, which has them. Some change while it runs; all others restart it. */
export class Serving {
  readonly #engine: EngineControl;
  readonly #onLink: (link: string) => void;
  readonly #link;
  /** The outcome of the settings in the page's link; null if it had none, or others were applied since. */
  readonly link: ReadonlyStore<LinkOutcome | null>;

  constructor({ engine, opened, onLink }: ServingOptions) {
    this.#engine = engine;
    this.#onLink = onLink;
    this.link = this.#link = createStore<LinkOutcome | null>(() => opened.link);
    // Another tab that shares the engine may change the settings.
    engine.chosen.subscribe(({ config, isFollowing }, before) => {
      if (isFollowing && this.link.getState() && hashOf(config) !== hashOf(before.config)) this.#leaveLink();
    });
  }

  /** Whether the engine must restart to take these settings. */
  needsRestart(settings: ServingSettings): boolean {
    return this.#engine.needsRestart(engineConfigOf(settings));
  }

  /**
   * Applies the settings and keeps them in this browser. Resolves with the error if the engine can't start with them; it
   * then runs with those before.
   */
  async apply(settings: ServingSettings): Promise<ChorusErrorData | null> {
    const error = await this.#engine.reconfigure(engineConfigOf(settings));
    if (error) return error;
    keep(settings);
    this.#leaveLink();
    return null;
  }

  /** Changes a setting that needs no restart, and keeps it. On a link's visit the others are the link's, which are not kept. */
  set(name: ServingName, value: ServingValue): void {
    const settings = checkServing({ ...servingOf(this.#engine.chosen.getState().config), [name]: value });
    void this.#engine.change(engineConfigOf(settings));
    if (this.link.getState()?.status === "applied") this.#onLink(writeServingLink(settings));
    keep(checkServing({ ...keptSettings(), [name]: value }));
  }

  /** Applies a link's settings, on this visit only. A link without any changes nothing. */
  async follow(route: Route): Promise<void> {
    const linked = readLink(route);
    if (linked === null) return;
    const error = "error" in linked ? linked.error : await this.#engine.reconfigure(engineConfigOf(linked.settings));
    this.#link.setState(error ? { status: "refused", error } : { status: "applied" }, true);
  }

  #leaveLink(): void {
    this.#link.setState(null, true);
    this.#onLink("#/");
  }
}

const hashOf = (config: EngineConfig) => writeServingLink(servingOf(config));

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
  const thresholds = keptThresholds();
  try {
    return checkServing({ ...thresholds, ...(parseJson(remembered(SERVING) ?? "{}") as object) });
  } catch {
    return thresholds; // of another version
  }
}

/** Returns the readable thresholds of alerts that an earlier version kept apart; there null was "never". */
function keptThresholds(): ServingSettings {
  try {
    const kept = Object.entries(parseJson(remembered(ALERTS) || "{}") as Record<string, unknown>);
    return Object.assign({}, ...kept.map(([name, value]) => readThreshold(name, value ?? "off"))) as ServingSettings;
  } catch {
    return {};
  }
}

function readThreshold(name: string, value: unknown): ServingSettings {
  try {
    return checkServing({ [`alerts.${name}`]: value });
  } catch {
    return {};
  }
}

function keep(settings: ServingSettings): void {
  remember(SERVING, JSON.stringify(settings));
  remember(ALERTS, "");
}
