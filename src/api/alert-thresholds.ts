import type { AlertThresholds, ResolvedAlertThresholds } from "../protocol/config.ts";
import { Fields, type Range } from "./validate.ts";

const FRACTION: Range = { min: 0, max: 1 };

const DEFAULT_LOW_OCCUPANCY = 0.6;
const DEFAULT_QUEUE_LENGTH = 100;
const DEFAULT_FAILURE_RATE = 0.05;

const THRESHOLDS = [
  "lowOccupancy",
  "queueLength",
  "itlMs",
  "failureRate",
] as const satisfies readonly (keyof AlertThresholds)[];

/** Parses the config's `alerts`. Here null means "never"; only undefined counts as left out. */
export function parseAlertThresholds(config: Fields, targetItlMs: number | null): ResolvedAlertThresholds {
  const fields = new Fields(config.get("alerts") ?? {}, "alerts");
  fields.refuseOthers(THRESHOLDS);
  const orNever = <T>(name: keyof AlertThresholds, threshold: T) => (fields.isNull(name) ? null : threshold);
  const queueLength = fields.integer("queueLength", { min: 0, max: Number.MAX_SAFE_INTEGER });
  const itlMs = fields.number("itlMs", { min: 0, max: Number.MAX_SAFE_INTEGER, above: true });
  return Object.freeze({
    lowOccupancy: orNever("lowOccupancy", fields.number("lowOccupancy", FRACTION) ?? DEFAULT_LOW_OCCUPANCY),
    queueLength: orNever("queueLength", queueLength ?? DEFAULT_QUEUE_LENGTH),
    itlMs: orNever("itlMs", itlMs ?? targetItlMs ?? "auto"),
    failureRate: orNever("failureRate", fields.number("failureRate", FRACTION) ?? DEFAULT_FAILURE_RATE),
  });
}
