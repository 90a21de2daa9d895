import type { BatchingMode } from "../protocol/config.ts";
import { ChorusError, toChorusError } from "../protocol/errors.ts";
import type { EngineStats, KvCacheMap } from "../protocol/reports.ts";
import { checkRequests, maxSequenceLength } from "./scheduling/admission.ts";
import type { EngineOptions, EngineRequest } from "./engine-options.ts";
import { OpenSequences } from "./core/open-sequences.ts";
import { Outbox } from "./core/outbox.ts";
import { kvCacheMap } from "./cache/kv-cache-map.ts";
import * as reports from "./core/reports.ts";
import type { StepResult } from "./runner.ts";
import type { SchedulerLimits } from "./scheduling/scheduler-config.ts";
import { Scheduler } from "./scheduling/scheduler.ts";
import type { ScheduledSequence } from "./core/sequence.ts";
import { StepPlanner } from "./core/step-planner.ts";

/** A step that has been submitted, and whose tokens are not known yet. */
interface StepInFlight {
  readonly scheduled: readonly ScheduledSequence[];
  readonly others: reports.PlanReport;
  readonly result: Promise<StepResult>;
  readonly startMs: number;
  /** JavaScript time of planning and submitting. */
  readonly cpuMs: number;
}

/**
 * Serves any number of requests on one runner, step by step: schedule -> submit -> commit -> emit. Requests join and
 * leave between steps; those that run share every step.
 *
 * Reading tokens back takes longer than many a step, so up to `runAhead` steps are submitted before the tokens of the
 * oldest are known. What they need is on the GPU; what is decided here (who ends) is decided that many steps late, and
 * what was computed for nothing is dropped.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #eosTokenIds: ReadonlySet<number>;
  readonly #scheduler: Scheduler;
  readonly #outbox: Outbox;
  readonly #sequences: OpenSequences;
  readonly #planner = new StepPlanner();
  /** Submitted steps, oldest first. */
  readonly #inFlight: StepInFlight[] = [];

  #lastCommitMs = -Infinity;
  #isStepping = false;
  #error: ChorusError | null = null;
  #loop: Promise<void> | null = null;
  #wake = (): void => {};

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#eosTokenIds = new Set(options.eosTokenIds);
    this.#scheduler = new Scheduler(options.config);
    this.#outbox = new Outbox(options.onOutputs);
    this.#sequences = new OpenSequences(
      {
        tokenBytes: options.tokenBytes,
        eosTokenIds: this.#eosTokenIds,
        maxLength: maxSequenceLength(options.config),
      },
      this.#scheduler,
      this.#outbox,
    );
  }

  /**
   * Queues requests, all or none. Throws a ChorusError when one can't run here or they can't all wait here, or the one
   * that the engine died of.
   */
  add(...requests: readonly EngineRequest[]): void {
    if (this.#error !== null) throw this.#error;
    checkRequests(requests, this.#eosTokenIds, this.#scheduler, this.#options.config);
    const arrivalMs = this.#options.now();
    for (const request of requests) this.#sequences.add(request, arrivalMs);
    this.#outbox.emit(null);
    this.#wake();
  }

  /** Ends a request with finishReason "abort". Tokens on their way to it are dropped. What is not open is ignored. */
  abort(requestId: string): void {
    this.#sequences.abortRequest(requestId, this.#options.now());
    this.#outbox.emit(null);
  }

  /** Steps while there is work and sleeps otherwise, until the engine dies. There is one loop however often it is called. */
  run(): Promise<void> {
    return (this.#loop ??= this.#runLoop());
  }

  /**
   * One turn, for whoever drives the engine without run(): submits a step if one can be planned, and takes in the oldest
   * if enough are in flight. Returns whether anything was done.
   */
  async step(): Promise<boolean> {
    if (this.#isStepping) throw new ChorusError("internal_error", "A step was asked for while another is taken.");
    this.#isStepping = true;
    try {
      this.#endOverdue();
      const submitted = this.#inFlight.length <= this.#options.config.runAhead && this.#submit();
      const oldest = this.#inFlight[0];
      if (oldest === undefined) return false;
      if (!submitted || this.#inFlight.length > this.#options.config.runAhead) await this.#takeIn(oldest);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    } finally {
      this.#isStepping = false;
    }
  }

  /** Uses less, or again all, of what the config allows, from the next step on. */
  setLimits(limits: SchedulerLimits): void {
    this.#scheduler.setLimits(limits);
  }

  /** Batches differently from the next step on. */
  setBatchingMode(mode: BatchingMode): void {
    this.#scheduler.setBatchingMode(mode);
    this.#wake();
  }

  /** Ends the engine with everything open in it. The first error counts; it is what onFatal gets and add() throws. */
  fail(error: unknown): void {
    if (this.#error !== null) return;
    this.#error = toChorusError(error);
    this.#sequences.drop();
    this.#inFlight.length = 0;
    this.#outbox.clear();
    this.#options.onFatal(this.#error);
    this.#wake();
  }

  stats(): EngineStats {
    return reports.engineStats(this.#scheduler, this.#sequences.counters);
  }

  kvCacheMap(): KvCacheMap {
    return kvCacheMap(this.#scheduler);
  }

  /** For tests: throws when a cache block or a slot is owned by nobody or by two. */
  assertConsistent(): void {
    this.#scheduler.assertConsistent();
  }

  async #runLoop(): Promise<void> {
    while (this.#error === null) {
      if (!(await this.step()) && this.#error === null) await this.#sleep();
    }
  }

  /** Until there is something to do: a request, the end of a batch window, a deadline. */
  async #sleep(): Promise<void> {
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#sequences.size === 0) return woken;
    const wakesAtMs = Math.min(this.#scheduler.wakesAtMs, this.#sequences.nextDeadlineMs);
    if (wakesAtMs === Infinity) {
      return this.fail(new Error(`${this.#sequences.size} sequences are open, and none of them can go on.`));
    }
    await Promise.race([woken, this.#options.delay(Math.max(0, wakesAtMs - this.#options.now()))]);
  }

  /** Plans a step and hands it to the runner; false when there is nothing to plan, or nothing before others are in. */
  #submit(): boolean {
    const { now, runner } = this.#options;
    const startMs = now();
    const scheduled = this.#scheduler.schedule(startMs, this.#inFlight.length === 0);
    if (scheduled.length === 0) return false;
    const result = runner.submit(this.#planner.plan(scheduled));
    result.catch(() => undefined); // it is awaited later, and its error told then
    const others = reports.planReport(this.#scheduler, this.#scheduler.takePreempted());
    this.#inFlight.push({ scheduled, others, result, startMs, cpuMs: now() - startMs });
    return true;
  }

  async #takeIn({ scheduled, others, result, startMs, cpuMs }: StepInFlight): Promise<void> {
    const { sequences, gpuMs } = await result;
    if (this.#error !== null) return;
    const atMs = this.#options.now();
    const stepMs = atMs - Math.max(startMs, this.#lastCommitMs);
    this.#inFlight.shift();
    this.#lastCommitMs = atMs;
    const numTaken = this.#sequences.commit(scheduled, sequences, atMs);
    const rest = { ...others, atMs, stepMs, cpuMs: cpuMs + this.#options.now() - atMs, gpuMs };
    this.#outbox.emit(reports.stepReport(this.#sequences.counters.steps, scheduled, numTaken, rest, this.#scheduler));
    await this.#sequences.prepareMasks(scheduled, this.#options.now);
    this.#outbox.emit(null);
  }

  #endOverdue(): void {
    this.#sequences.abortOverdue(this.#options.now());
    this.#outbox.emit(null);
  }
}
