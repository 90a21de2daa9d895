import type { LoadedRunner } from "../backends/backend.ts";
import { PromptRows } from "../engine/metrics/prompt-rows.ts";
import { AdaptiveLimits } from "../engine/metrics/adaptive-limits.ts";
import type { Engine } from "../engine/engine.ts";
import { Alerts } from "../engine/metrics/alerts.ts";
import { Metrics } from "../engine/metrics/metrics.ts";
import { prometheusText } from "../engine/metrics/prometheus.ts";
import type { SequenceOutput } from "../engine/text/output.ts";
import type { ResolvedEngineConfig } from "../protocol/config.ts";
import type { ChorusErrorData } from "../protocol/errors.ts";
import type { Alert, DeviceReport, EngineStats, ModelCard, RequestReport, StepReport } from "../protocol/reports.ts";
import { Logger } from "./logger.ts";
import { StatusLine } from "./status-line.ts";

/** Derives an engine's metrics, alerts, log and limits that adapt from its reports. */
export class Telemetry {
  readonly #engine: Pick<Engine, "stats" | "setLimits" | "setPromptRows">;
  readonly #model: ModelCard;
  readonly #metrics: Metrics;
  readonly #alerts: Alerts;
  #config: ResolvedEngineConfig;
  #kernelNotes: readonly string[] = [];
  /** Null without a target. */
  #limits: AdaptiveLimits | null = null;
  readonly #promptRows: PromptRows;
  readonly #log: Logger;
  readonly #statusLine = new StatusLine();

  constructor(
    engine: Pick<Engine, "stats" | "setLimits" | "setPromptRows">,
    model: ModelCard,
    config: ResolvedEngineConfig,
    log = new Logger(config.logLevel),
  ) {
    this.#engine = engine;
    this.#model = model;
    this.#metrics = new Metrics(config);
    this.#alerts = new Alerts(config);
    this.#config = config;
    this.#followTarget(config);
    this.#promptRows = new PromptRows(config.maxStepStretch, config.maxNumBatchedTokens);
    engine.setPromptRows((streamRows) => this.#promptRows.beside(streamRows));
    this.#log = log;
    log.write("info", () => {
      return `${model.name} is loaded on ${model.adapter}: weights in ${model.mixture ?? model.dtype}, ${model.numGpuBlocks} cache blocks`;
    });
    log.write("info", () => `config: ${describeConfig(config)}`);
  }

  /**
   * Takes the reports of a step and sets the limits of the next. Returns new alerts.
   * @param isTimed whether the step's kernels were timed. It is slower for that, so only the histograms observe its time
   */
  observe(
    outputs: readonly SequenceOutput[],
    step: StepReport | null,
    requests: readonly RequestReport[],
    atMs: number,
    isTimed = false,
  ): Alert[] {
    const alerts: Alert[] = step ? [...this.#observeStep(step, isTimed)] : [];
    for (const request of requests) {
      this.#metrics.observeRequest(request);
      this.#alerts.observeRequest(request);
    }
    let mayRest = step === null;
    for (const { finishReason, stopReason, error } of outputs) {
      if (finishReason === null) continue;
      mayRest = true;
      // The caller wants an abort, but not a missed deadline or an error.
      const failed = (finishReason === "abort" && stopReason === "deadline") || error !== null;
      alerts.push(...this.#alerts.observeEnd({ failed, atMs }));
    }
    if (mayRest && this.#isAtRest()) alerts.push(...this.#alerts.observeRest(atMs));
    this.#logAlerts(alerts);
    return alerts;
  }

  #isAtRest(): boolean {
    const { num_requests_running: running, num_requests_waiting: waiting } = this.#engine.stats();
    return running === 0 && waiting === 0;
  }

  /** Counts and logs a refused request. Returns new alerts. */
  observeRefusal(error: ChorusErrorData, atMs: number): Alert[] {
    this.#log.write("warn", () => `a request was refused (${error.code}): ${error.message}`);
    const alerts = this.#alerts.observeEnd({ failed: true, atMs });
    this.#logAlerts(alerts);
    return alerts;
  }

  observeKernels({ kernelNotes, rowTiles = [] }: Pick<LoadedRunner, "kernelNotes" | "rowTiles">): void {
    this.#kernelNotes = kernelNotes;
    this.#promptRows.useTiles(rowTiles);
    this.#logKernels();
  }

  /** Follows another config, which the engine follows already. Returns the alerts that are resolved by this. */
  update(config: ResolvedEngineConfig, atMs: number): Alert[] {
    const before = this.#config;
    this.#config = config;
    this.#log.setLevel(config.logLevel);
    // A new reader of the log has not seen the lines of loading.
    const begins = config.logLevel !== before.logLevel;
    this.#log.write("info", () => `config: ${describeConfig(config, begins ? {} : before)}`);
    if (begins) this.#logKernels();
    this.#followTarget(config, before);
    this.#promptRows.update(config.maxStepStretch, config.maxNumBatchedTokens);
    const alerts = this.#alerts.update(config, atMs);
    this.#logAlerts(alerts);
    return alerts;
  }

  observeDevice({ status, loss, adapter }: DeviceReport): void {
    if (status === "lost") this.#log.write("warn", () => `${adapter} was lost: ${loss.message}`);
    else if (status === "changed") this.#log.write("warn", () => loss.message);
    else this.#log.write("info", () => `the engine goes on, on ${adapter}`);
  }

  observeFatal(error: ChorusErrorData): void {
    if (error.code === "engine_disposed") this.#log.write("info", () => "the engine was disposed of");
    else this.#log.write("error", () => `the engine died (${error.code}): ${error.message}`);
  }

  prometheusText(): string {
    return prometheusText(this.#engine.stats(), this.#metrics, this.#model);
  }

  /** Starts limits over that adapt to another target or other sizes. */
  #followTarget(config: ResolvedEngineConfig, before: ResolvedEngineConfig | null = null): void {
    const { targetItlMs } = config;
    const names = ["targetItlMs", "maxNumSeqs", "maxNumBatchedTokens"] as const;
    if (before === null || names.some((name) => config[name] !== before[name])) {
      this.#limits = targetItlMs === null ? null : new AdaptiveLimits({ ...config, targetItlMs });
    }
    if (this.#limits) this.#engine.setLimits(this.#limits.limits);
  }

  #observeStep(step: StepReport, isTimed: boolean): Alert[] {
    this.#metrics.observeStep(step);
    if (this.#limits) this.#engine.setLimits(this.#limits.observe(step, isTimed));
    if (!isTimed) this.#promptRows.observe(step);
    this.#log.write("debug", () => describeStep(step));
    const line = this.#statusLine.observe(step, (): EngineStats => this.#engine.stats());
    if (line !== null) this.#log.write("info", () => line);
    return this.#alerts.observeStep(step, isTimed);
  }

  /** @param kernels that were compiled while the engine ran and can't be used, each with its reason */
  observeUnusedKernels(kernels: readonly string[]): void {
    for (const kernel of kernels) this.#log.write("warn", () => `a kernel is not used: ${kernel}`);
  }

  /** The device refuses what timing its kernels takes. */
  observeUntimed(): void {
    this.#log.write("warn", () => "no kernel is timed: the adapter refuses the queries, or has no memory for them");
  }

  #logKernels(): void {
    for (const note of this.#kernelNotes) this.#log.write("info", () => note);
  }

  #logAlerts(alerts: readonly Alert[]): void {
    for (const { name, status, message } of alerts) {
      if (status === "raised") this.#log.write("warn", () => `${name}: ${message}`);
      else this.#log.write("info", () => `${name} is resolved`);
    }
  }
}

/** "maxNumSeqs 64, maxNumBatchedTokens 256, ...": what differs from the config before. */
function describeConfig(config: ResolvedEngineConfig, before: Partial<ResolvedEngineConfig> = {}): string {
  // JSON has no Infinity.
  const value = (one: unknown) => (one === Infinity ? "Infinity" : JSON.stringify(one));
  const names = (Object.keys(config) as (keyof ResolvedEngineConfig)[]).filter(
    (name) => value(config[name]) !== value(before[name]),
  );
  return names.map((name) => `${name} ${value(config[name])}`).join(", ") || "unchanged";
}

function describeStep({ step, entries, rows, promptRows, sampledTokens, stepMs, cpuMs, gpuMs }: StepReport): string {
  const times = [`${stepMs.toFixed(1)} ms`, `CPU ${cpuMs.toFixed(2)}`, `GPU ${gpuMs?.toFixed(2) ?? "-"}`].join(", ");
  return `step ${step}: ${entries.length} sequences, ${rows} rows (${promptRows} of prompts), ${sampledTokens} tokens; ${times}`;
}
