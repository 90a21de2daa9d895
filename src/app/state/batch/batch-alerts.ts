import { parseJson, type Alert, type AlertThresholds } from "../../../index.ts";
import { remember, remembered } from "../remembered.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import type { WatchedEngine } from "./watched-engine.ts";

/** An alert, and when the page received it: milliseconds since 1970. */
export interface SeenAlert extends Alert {
  readonly seenAtMs: number;
}

interface AlertsState {
  /** Alerts that are raised now, the newest first. */
  readonly raised: readonly SeenAlert[];
  /** Alerts that were resolved, the newest first. */
  readonly resolved: readonly SeenAlert[];
}

export type ThresholdName = keyof AlertThresholds;

/** A threshold as shown: in per cent, sequences or milliseconds. */
export interface ThresholdField {
  readonly name: ThresholdName;
  readonly label: string;
  readonly unit: string;
  /** The default in words. */
  readonly defaultText: string;
  readonly most: number;
  /** The engine's unit per shown unit: its shares are 0..1. */
  readonly perUnit: number;
}

export const THRESHOLD_FIELDS: readonly ThresholdField[] = [
  {
    name: "lowOccupancy",
    label: "Slots in use while others wait, under",
    unit: "%",
    defaultText: "60",
    most: 100,
    perUnit: 0.01,
  },
  { name: "queueLength", label: "Waiting sequences, over", unit: "", defaultText: "100", most: 1e6, perUnit: 1 },
  {
    name: "itlMs",
    label: "Time between tokens (p95), over",
    unit: "ms",
    defaultText: "4 steps",
    most: 1e6,
    perUnit: 1,
  },
  {
    name: "failureRate",
    label: "Failed and refused requests, over",
    unit: "%",
    defaultText: "5",
    most: 100,
    perUnit: 0.01,
  },
];

const MAX_RESOLVED = 20;
const REMEMBERED = "alerts";

/** The engine's alerts, and their thresholds, which outlive the engine and the page. */
export class BatchAlerts {
  readonly #store = createStore<AlertsState>(() => ({ raised: [], resolved: [] }));
  readonly store: ReadonlyStore<AlertsState> = this.#store;
  readonly #thresholds = createStore<AlertThresholds>(() => rememberedThresholds());
  /** The thresholds that a person has set. Null: never. */
  readonly thresholds: ReadonlyStore<AlertThresholds> = this.#thresholds;
  readonly #clock: () => number;
  #engine: WatchedEngine | null = null;

  /** @param clock milliseconds since 1970 */
  constructor(clock: () => number = () => Date.now()) {
    this.#clock = clock;
  }

  /** Watches this engine from now on; null: there is none. */
  watch(engine: WatchedEngine | null): void {
    this.#engine = engine;
    this.#store.setState({ ...this.#store.getState(), raised: [] }, true);
    if (engine === null) return;
    engine.on("alert", (alert) => {
      if (this.#engine === engine) this.#add(alert);
    });
    if (Object.keys(this.thresholds.getState()).length > 0) this.#applyToEngine();
  }

  /** Sets a threshold. Null: never; undefined: its default. */
  set(name: ThresholdName, value: number | null | undefined): void {
    // Another tab may have set others meanwhile. Without storage this page's own are all there are.
    const before = remembered(REMEMBERED) === null ? this.thresholds.getState() : rememberedThresholds();
    const { [name]: _, ...others } = before;
    this.#thresholds.setState(value === undefined ? others : { ...others, [name]: value }, true);
    remember(REMEMBERED, JSON.stringify(this.thresholds.getState()));
    this.#applyToEngine();
  }

  #add(alert: Alert): void {
    const { raised, resolved } = this.#store.getState();
    const seen = { ...alert, seenAtMs: this.#clock() };
    const others = raised.filter(({ name }) => name !== alert.name);
    const isRaised = alert.status === "raised";
    const state = {
      raised: isRaised ? [seen, ...others] : others,
      resolved: isRaised ? resolved : [seen, ...resolved].slice(0, MAX_RESOLVED),
    };
    this.#store.setState(state, true);
  }

  #applyToEngine(): void {
    // It refuses only when it is gone, which its fatal event reports.
    void this.#engine?.update({ alerts: this.thresholds.getState() }).catch(() => undefined);
  }
}

/** Reads the saved thresholds, without invalid ones. */
function rememberedThresholds(): AlertThresholds {
  try {
    const kept = parseJson(remembered(REMEMBERED) ?? "{}") as Record<string, unknown>;
    const known = THRESHOLD_FIELDS.filter(({ name, most, perUnit }) => {
      const value = kept[name];
      return value === null || (typeof value === "number" && value > 0 && value <= most * perUnit);
    });
    return Object.fromEntries(known.map(({ name }) => [name, kept[name]]));
  } catch {
    return {};
  }
}

/** Parses a typed threshold; undefined is the default, null an invalid one. */
export function readThreshold({ name, most, perUnit }: ThresholdField, typed: string): number | null | undefined {
  if (typed.trim() === "") return undefined;
  const value = Number(typed);
  const isWhole = name !== "queueLength" || Number.isInteger(value);
  return value > 0 && value <= most && isWhole ? value * perUnit : null;
}

/** Returns an alert in a few words, for a line. */
export function alertWords({ name, value }: Pick<Alert, "name" | "value">): string {
  const percent = `${Math.round(100 * value)}%`;
  switch (name) {
    case "low_occupancy":
      return `${percent} of slots in use, others wait`;
    case "queue_length":
      return `${value} in the queue`;
    case "itl":
      return `${Math.round(value)} ms between tokens (p95)`;
    case "failure_rate":
      return `${percent} of the requests failed`;
  }
}
