import { recordRun, type ChorusEngine, type RequestReport, type RunRecorder, type StepReport } from "../../../index.ts";
import { BatchAlerts } from "./batch-alerts.ts";
import { BatchMetrics, FIGURES_INTERVAL_MS } from "./batch-metrics.ts";
import { CacheMap } from "./cache-map.ts";
import { Charts } from "./charts.ts";
import { Dock } from "./dock.ts";
import { Pointing } from "./pointing.ts";
import { Timeline } from "./timeline.ts";
import type { WatchedEngine } from "./watched-engine.ts";

const MAX_RECORDED_EVENTS = 20_000;

/** The views of the engine's work: timeline, charts, cache map and recording. Watches one engine after another. */
export class Batch {
  readonly metrics: BatchMetrics;
  readonly timeline = new Timeline();
  readonly charts = new Charts(FIGURES_INTERVAL_MS);
  readonly cacheMap = new CacheMap();
  readonly alerts = new BatchAlerts();
  readonly dock = new Dock();
  readonly pointing = new Pointing();
  #wantsKernelTimes = false;
  #engine: ChorusEngine | null = null;
  #recorder: RunRecorder | null = null;

  /** @param now the clock of who shows it, milliseconds */
  constructor(now: () => number) {
    this.metrics = new BatchMetrics(now);
  }

  /** Watches this engine from now on, and records it; null: there is none, and the data of the last one stays. */
  watch(engine: ChorusEngine | null): void {
    this.#engine = engine;
    this.show(engine);
    this.alerts.watch(engine);
    if (engine === null) return;
    engine.on("step", this.addStep);
    engine.on("request", this.addRequest);
    this.#recorder = recordRun(engine, { mostEvents: MAX_RECORDED_EVENTS });
    this.#timeKernels();
  }

  /** Why no kernel can be timed, for display; null if they can. */
  get timingObstacle(): string | null {
    if (this.#engine === null) return "no engine runs";
    const { canTimeKernels, backend } = this.#engine.model;
    if (canTimeKernels) return null;
    return backend === "webgpu" ? "this GPU has no timestamps" : "only on a GPU";
  }

  /** Whether kernels are timed now. The choice for one engine applies to the next that can time them. */
  get isTimingKernels(): boolean {
    return this.#wantsKernelTimes && this.timingObstacle === null;
  }

  /** Starts or ends the recording of how long each kernel takes: it makes one step of eight slower. */
  toggleKernelTiming(): void {
    this.#wantsKernelTimes = !this.#wantsKernelTimes;
    this.#timeKernels();
  }

  /** Shows an engine, whose reports are then given to `addStep` and `addRequest`. */
  show(engine: WatchedEngine | null): void {
    this.metrics.watch(engine);
    this.cacheMap.watch(engine);
    if (engine === null) return;
    this.timeline.clear();
    this.charts.clear();
  }

  /** Whether an engine runs. */
  get isWatching(): boolean {
    return this.#engine !== null;
  }

  /** To be called every FIGURES_INTERVAL_MS. Returns false when it is at rest: the next ticks would change nothing. */
  tick(): boolean {
    this.metrics.tick();
    const figures = this.metrics.store.getState();
    const isAtWork = this.charts.tick(this.metrics.workerNowMs, figures.waiting, figures.running);
    void this.cacheMap.tick(figures);
    return isAtWork;
  }

  /** Brings everything but the charts to now, between two ticks. */
  refresh(): void {
    this.metrics.tick();
    void this.cacheMap.tick(this.metrics.store.getState());
  }

  /** Brings the charts up to date with the other views. They copy all their samples for that. */
  refreshCharts(): void {
    const { waiting, running } = this.metrics.store.getState();
    this.charts.peek(this.metrics.workerNowMs, waiting, running);
  }

  /** Whether there has been an engine. */
  get isRecording(): boolean {
    return this.#recorder !== null;
  }

  /** Returns the newest MAX_RECORDED_EVENTS as JSON lines; null before the first engine. */
  recording(): string | null {
    return this.#recorder?.text() ?? null;
  }

  /** Returns all counters, gauges and histograms as Prometheus text; null if no engine runs. */
  async prometheusText(): Promise<string | null> {
    return (await this.#engine?.metrics()) ?? null;
  }

  #timeKernels(): void {
    this.#recorder?.timeKernels(this.isTimingKernels);
  }

  readonly addStep = (report: StepReport): void => {
    this.metrics.addStep(report);
    this.charts.addStep(report);
    this.timeline.addStep(report);
    if (report.numRunning + report.numWaiting === 0) this.refresh(); // a short batch is over before the next tick
  };

  readonly addRequest = (report: RequestReport): void => {
    this.charts.addRequest(report);
    this.timeline.addRequest(report);
  };
}
