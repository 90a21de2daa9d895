import type { ResolvedAlertThresholds, ResolvedEngineConfig } from "../../protocol/config.ts";
import type { Alert, RequestReport, StepReport } from "../../protocol/reports.ts";
import { GapWindow } from "./gap-window.ts";
import { OwnStepTime } from "./own-step-time.ts";
import { percentileOf, rankOf } from "./percentile.ts";
import { TokenGaps } from "./token-gaps.ts";

/** "low_occupancy" needs this many low steps in a row, so that a batch that is filling up raises no alert. */
const LOW_OCCUPANCY_STEPS = 20;
/** Number of latest steps, and of latest ended requests, that the alerts consider. */
const WINDOW = 100;
/** No alert before there are this many of them. */
const MIN_OBSERVED = 20;
const PERCENTILE = 0.95;
/** Cache use from which on alerts give a full cache as the reason. */
const FULL_CACHE = 0.9;
/** The default threshold of the inter-token latency: this many times the adapter's own step time, but no less than 50 ms. */
const OWN_STEPS = 4;
const LEAST_ITL_MS = 50;
const AUTO = `${OWN_STEPS} times this machine's own step, at least ${LEAST_ITL_MS} ms`;

/** Watches the engine's reports and raises an alert when a threshold is crossed, and resolves it when that has recovered. */
export class Alerts {
  #thresholds: ResolvedAlertThresholds;
  #maxNumSeqs: number;
  /** Alerts that have been raised and have not recovered. */
  readonly #raised = new Map<Alert["name"], Alert>();
  readonly #gaps = new TokenGaps();
  /** Inter-token latencies of the last steps, in milliseconds. */
  #gapsMs = new GapWindow(WINDOW);
  readonly #ownStepTime = new OwnStepTime();
  /** Whether each of the last requests failed. */
  readonly #failures: boolean[] = [];
  #lowSteps = 0;

  constructor({ alerts, maxNumSeqs }: Pick<ResolvedEngineConfig, "alerts" | "maxNumSeqs">) {
    this.#thresholds = alerts;
    this.#maxNumSeqs = maxNumSeqs;
  }

  /** Follows another config. With other thresholds the alerts start over; returns those that were raised, resolved. */
  update({ alerts, maxNumSeqs }: Pick<ResolvedEngineConfig, "alerts" | "maxNumSeqs">, atMs: number): Alert[] {
    this.#maxNumSeqs = maxNumSeqs;
    if (JSON.stringify(alerts) === JSON.stringify(this.#thresholds)) return [];
    this.#thresholds = alerts;
    this.#lowSteps = 0;
    return [...this.#raised.keys()].flatMap((name) => this.#resolve(name, atMs) ?? []);
  }

  /**
   * Must be called before observeRequest() gets the reports of the same step.
   * @param isTimed whether its kernels were timed, which made the step slower
   */
  observeStep(report: StepReport, isTimed = false): Alert[] {
    const alerts = [this.#occupancy(report), this.#queueLength(report), this.#itl(report, isTimed)];
    return alerts.filter((alert) => alert !== null);
  }

  /** Notes that nothing runs or waits. Returns the alerts that this resolves. */
  observeRest(atMs: number): Alert[] {
    this.#lowSteps = 0;
    this.#gapsMs = new GapWindow(WINDOW);
    return (["low_occupancy", "queue_length", "itl"] as const).flatMap((name) => this.#resolve(name, atMs) ?? []);
  }

  observeRequest(report: RequestReport): void {
    this.#gaps.observeRequest(report);
  }

  /** Counts a refused request, or an ended sequence. */
  observeEnd({ failed, atMs }: { failed: boolean; atMs: number }): Alert[] {
    if (this.#failures.push(failed) > WINDOW) this.#failures.shift();
    const { length } = this.#failures;
    const rate = length < MIN_OBSERVED ? 0 : this.#failures.filter(Boolean).length / length;
    const alert = this.#check("failure_rate", rate, atMs, (value, threshold) => {
      const given = `${percent(value)} of the last ${length} requests failed or were refused, over ${percent(threshold)}.`;
      return `${given} Their errors say why; where the queue was full, a larger maxQueueSize or fewer requests would help.`;
    });
    return alert ? [alert] : [];
  }

  #occupancy({ numRunning, numWaiting, kvBlocksUsed, kvBlocksTotal, atMs }: StepReport): Alert | null {
    const threshold = this.#thresholds.lowOccupancy;
    if (threshold === null) return null;
    const occupancy = numRunning / this.#maxNumSeqs;
    this.#lowSteps = numWaiting > 0 && occupancy < threshold ? this.#lowSteps + 1 : 0;
    return this.#notify("low_occupancy", this.#lowSteps >= LOW_OCCUPANCY_STEPS, atMs, () => {
      const given = `${numRunning} of ${this.#maxNumSeqs} slots are in use, under ${percent(threshold)}, while others wait (${numWaiting}).`;
      const isFull = kvBlocksUsed / kvBlocksTotal >= FULL_CACHE;
      const help = isFull
        ? "The key/value cache is full: a larger kvCacheBytes, or kvCacheDtype f16, would help."
        : "The cache has room: a larger maxNumBatchedTokens or targetItlMs, or batchingMode continuous, would help.";
      return { value: occupancy, threshold, message: `${given} ${help}` };
    });
  }

  #queueLength({ numWaiting, atMs }: StepReport): Alert | null {
    return this.#check("queue_length", numWaiting, atMs, (value, threshold) => {
      const given = `${value} sequences wait, more than ${threshold}.`;
      return `${given} Fewer requests at once, or a larger maxNumSeqs and cache where the GPU has room, would help.`;
    });
  }

  #itl(report: StepReport, isTimed: boolean): Alert | null {
    const gapsMs = this.#gaps.observeStep(report);
    if (isTimed) return null;
    this.#ownStepTime.observe(report);
    if (gapsMs.length > 0) this.#gapsMs.push(gapsMs);
    const threshold = this.#itlThreshold();
    if (threshold === null || this.#gapsMs.numSteps < MIN_OBSERVED) return null;
    // The percentile exceeds the threshold if more gaps than these do, so only an alert needs to sort.
    const total = this.#gapsMs.count;
    const isCrossed = this.#gapsMs.longerThan(threshold) > total - rankOf(PERCENTILE, total);
    return this.#notify("itl", isCrossed, report.atMs, () => {
      const value = percentileOf(PERCENTILE, this.#gapsMs.all()) ?? 0;
      const over = this.#thresholds.itlMs === "auto" ? `${threshold.toFixed(0)} ms: ${AUTO}` : `${threshold} ms`;
      const given = `Tokens come slowly: 95% within ${value.toFixed(1)} ms (limit ${over}).`;
      const help = "A smaller maxNumSeqs or maxNumBatchedTokens, or a targetItlMs that sets both, would help.";
      return { value, threshold, message: `${given} ${help}` };
    });
  }

  /** Returns the threshold in ms; null for never, or while the adapter's own step time is not known. */
  #itlThreshold(): number | null {
    const { itlMs } = this.#thresholds;
    if (itlMs !== "auto") return itlMs;
    const { ms } = this.#ownStepTime;
    return ms === null ? null : Math.max(LEAST_ITL_MS, OWN_STEPS * ms);
  }

  /** Raises an alert as soon as a value is above its threshold. */
  #check(
    name: "queue_length" | "failure_rate",
    value: number,
    atMs: number,
    message: (value: number, threshold: number) => string,
  ): Alert | null {
    const threshold = this.#thresholds[name === "queue_length" ? "queueLength" : "failureRate"];
    if (threshold === null) return null;
    return this.#notify(name, value > threshold, atMs, () => ({
      value,
      threshold,
      message: message(value, threshold),
    }));
  }

  #notify(
    name: Alert["name"],
    isCrossed: boolean,
    atMs: number,
    alert: () => Pick<Alert, "value" | "threshold" | "message">,
  ): Alert | null {
    if (!isCrossed) return this.#resolve(name, atMs);
    if (this.#raised.has(name)) return null;
    const raised: Alert = { status: "raised", name, atMs, ...alert() };
    this.#raised.set(name, raised);
    return raised;
  }

  #resolve(name: Alert["name"], atMs: number): Alert | null {
    const raised = this.#raised.get(name);
    return raised && this.#raised.delete(name) ? { ...raised, status: "resolved", atMs } : null;
  }
}

function percent(fraction: number): string {
  return `${Math.round(100 * fraction)}%`;
}
