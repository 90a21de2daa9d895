import { ChorusError, toChorusError } from "../protocol/errors.ts";
import type { EngineStats, KvBlockTokens, KvCacheMap } from "../protocol/reports.ts";
import { checkRequests, maxSequenceLength } from "./scheduling/admission.ts";
import type { EngineOptions } from "./engine-options.ts";
import type { EngineRequest } from "./engine-request.ts";
import { KernelWaits } from "./serving/kernel-waits.ts";
import { OpenSequences } from "./serving/open-sequences.ts";
import { Outbox } from "./serving/outbox.ts";
import { kvBlockTokens, kvCacheMap } from "./serving/kv-cache-map.ts";
import * as reports from "./serving/reports.ts";
import { DraftModel } from "./drafting/draft-model.ts";
import type { Runner, StepResult } from "./runner.ts";
import { withinStates, type SchedulerLimits } from "./scheduling/scheduler-config.ts";
import { Scheduler } from "./scheduling/scheduler.ts";
import type { ScheduledSequence } from "./sequence.ts";
import { StepPlanner } from "./step-planner.ts";

/** A submitted step whose tokens are not known yet. */
interface StepInFlight {
  readonly scheduled: readonly ScheduledSequence[];
  readonly places: readonly reports.Place[];
  readonly others: reports.PlanReport;
  /** Null if the device was lost first. */
  readonly result: Promise<StepResult | null>;
  /** Resolves the result with null, unless it is known. */
  readonly drop: () => void;
  readonly startMs: number;
  /** JavaScript time of planning and submitting. */
  readonly cpuMs: number;
}

/**
 * Serves any number of requests on one runner, step by step: schedule -> submit -> commit -> emit. Requests join and
 * leave between steps. All running requests share every step.
 *
 * Reading tokens back often takes longer than a step, so up to `runAhead` steps are submitted before the tokens of the
 * oldest are known. The runner has the tokens that they need. The engine learns that many steps late which sequences have
 * ended, and drops what the steps computed for those.
 *
 * If the runner's device is lost, everything that runs is preempted. It is recomputed from its tokens on another runner,
 * which draws the same next tokens.
 */
export class Engine {
  readonly #options: Omit<EngineOptions, "config">;
  #config: EngineOptions["config"];
  readonly #eosTokenIds: ReadonlySet<number>;
  readonly #scheduler: Scheduler;
  /** Null without one. */
  readonly #draftModel: DraftModel | null;
  readonly #kernelWaits: KernelWaits;
  readonly #outbox: Outbox;
  readonly #sequences: OpenSequences;
  /** Null from the loss of its device until it is replaced. */
  #runner: Runner | null;
  #planner = new StepPlanner();
  /** Steps whose sequences wait for masks. */
  #numMaskWaits = 0;
  /** Whether masks came since the last step began. */
  #hasNewMasks = false;
  /** Submitted steps, oldest first. */
  readonly #inFlight: StepInFlight[] = [];

  #lastCommitMs = -Infinity;
  #lastStep: reports.LastStep | null = null;
  #isStepping = false;
  #error: ChorusError | null = null;
  #loop: Promise<void> | null = null;
  #wake = (): void => {};

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#runner = options.runner;
    this.#eosTokenIds = new Set(options.eosTokenIds);
    this.#draftModel = draftModelOf(options);
    this.#kernelWaits = new KernelWaits({
      onReady: () => this.#wake(),
      onError: ({ requestId }, error) => this.#refuse(requestId, error),
    });
    this.#scheduler = new Scheduler(withinStates(options.config), this.#draftModel, (sequence) =>
      this.#kernelWaits.isReady(sequence, this.#runner),
    );
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
   * Queues requests, all or none. Throws a ChorusError if one can never run, if the queue has no room for all of them, or
   * if the engine has died (then the error that it died of).
   */
  add(...requests: readonly EngineRequest[]): void {
    if (this.#error !== null) throw this.#error;
    checkRequests(requests, this.#eosTokenIds, this.#scheduler, this.#config);
    const arrivalMs = this.#options.now();
    for (const request of requests) this.#sequences.add(request, arrivalMs);
    this.#outbox.emit(null);
    this.#wake();
  }

  /** Ends a request with finishReason "abort" and drops its tokens in flight. Ignores ids of requests that aren't open. */
  abort(requestId: string): void {
    this.#sequences.abortRequest(requestId, this.#options.now());
    this.#outbox.emit(null);
  }

  /** Steps while there is work and sleeps otherwise, until the engine dies. Further calls return the same loop. */
  run(): Promise<void> {
    return (this.#loop ??= this.#runLoop());
  }

  /**
   * Takes one turn, for callers that don't use run(): submits a step if one can be planned, and awaits the oldest step if
   * enough are in flight. Returns whether it did anything.
   */
  async step(): Promise<boolean> {
    if (this.#isStepping)
      throw new ChorusError("internal_error", "step() was called while another step is in progress.");
    this.#isStepping = true;
    try {
      this.#hasNewMasks = false;
      this.#sequences.abortOverdue(this.#options.now());
      this.#outbox.emit(null);
      const startMs = this.#options.now();
      const hasRoom = this.#runner !== null && this.#inFlight.length <= this.#config.runAhead;
      // Drafts need known tokens, so a sequence that drafts has nothing in flight. What others have goes on meanwhile.
      const drafting = hasRoom ? this.#scheduler.prepareDrafts() : null;
      if (drafting !== null) await drafting;
      const submitted = hasRoom && this.#submit(startMs);
      const oldest = this.#inFlight[0];
      if (oldest === undefined) return false;
      if (!submitted || this.#inFlight.length > this.#config.runAhead) await this.#takeIn(oldest);
      return true;
    } catch (error) {
      if (error instanceof ChorusError && error.code === "device_lost") this.lose(error);
      else this.fail(error);
      return false;
    } finally {
      this.#isStepping = false;
    }
  }

  /** Sets the function that returns a step's most prompt rows by its stream rows, from the next step on. */
  setPromptRows(beside: (streamRows: number) => number): void {
    this.#scheduler.setPromptRows(beside);
  }

  /** Sets limits within those of the config, from the next step on. */
  setLimits(limits: SchedulerLimits): void {
    this.#scheduler.setLimits(limits);
  }

  /**
   * Follows another config from the next step on. Only what protocol/live-config.ts names may differ from the first one. No
   * token of any request changes: see Scheduler.update.
   */
  update(config: EngineOptions["config"]): void {
    this.#config = config;
    this.#scheduler.update(withinStates(config));
    this.#wake();
  }

  /**
   * Takes back all steps in flight, asks for another runner, and recomputes the running sequences on it. Ignored while the
   * runner is being replaced.
   */
  lose(loss: ChorusError): void {
    const { replaceRunners } = this.#options;
    if (this.#error !== null || this.#runner === null) return;
    if (replaceRunners === undefined) return this.fail(loss);
    this.#runner = null;
    this.#draftModel?.lose();
    this.#kernelWaits.forget();
    this.#planner = new StepPlanner();
    for (const step of this.#inFlight) step.drop();
    this.#inFlight.length = 0;
    this.#scheduler.loseCache();
    this.#sequences.counters.deviceLosses += 1;
    replaceRunners(loss).then(
      ({ runner, draft }) => {
        if (this.#error !== null) return;
        this.#runner = runner;
        if (draft) this.#draftModel?.replaceRunner(draft.runner);
        this.#wake();
      },
      (error: unknown) => this.fail(error),
    );
  }

  /** Ends the engine and everything open in it. onFatal gets the first error, and add() throws it from then on. */
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
    return reports.engineStats(this.#scheduler, this.#sequences.counters, this.#lastStep);
  }

  kvCacheMap(): KvCacheMap {
    return kvCacheMap(this.#scheduler);
  }

  kvBlockTokens(block: number): KvBlockTokens {
    return kvBlockTokens(this.#scheduler, block);
  }

  /** For tests: throws unless every cache block and slot has the owners it should have. */
  assertConsistent(): void {
    this.#scheduler.assertConsistent();
    this.#draftModel?.assertConsistent();
  }

  async #runLoop(): Promise<void> {
    while (this.#error === null) {
      if (!(await this.step()) && this.#error === null) await this.#sleep();
    }
  }

  /** Waits for a request, the end of a batch window, a deadline, a runner, a kernel or a mask. */
  async #sleep(): Promise<void> {
    const woken = this.#woken();
    if (this.#sequences.size === 0) return woken;
    if (this.#hasNewMasks) return;
    const canRunAtMs = this.#runner === null ? Infinity : this.#scheduler.wakesAtMs;
    const wakesAtMs = Math.min(canRunAtMs, this.#sequences.nextDeadlineMs);
    if (wakesAtMs === Infinity) {
      if (this.#runner === null || !this.#kernelWaits.isEmpty || this.#numMaskWaits > 0) return woken;
      return this.fail(new Error(`${this.#sequences.size} sequences are open, but none of them can run.`));
    }
    await Promise.race([woken, this.#options.delay(Math.max(0, wakesAtMs - this.#options.now()))]);
  }

  #woken(): Promise<void> {
    return new Promise((resolve) => (this.#wake = resolve));
  }

  /** Plans a step and submits it. Returns false if nothing can be planned, or not before steps in flight are done. */
  #submit(startMs: number): boolean {
    const { now } = this.#options;
    const runner = this.#runner;
    if (runner === null) return false;
    const scheduled = this.#scheduler.schedule(startMs, this.#inFlight.length === 0);
    if (scheduled.length === 0) return false;
    const plan = this.#planner.plan(scheduled);
    const places = reports.placesOf(plan);
    const submitted = runner.submit(plan);
    let drop = (): void => {};
    const result = new Promise<StepResult | null>((resolve, reject) => {
      submitted.then(resolve, reject);
      drop = () => resolve(null);
    });
    result.catch(() => undefined); // #takeIn awaits it later and handles its error
    const others = reports.planReport(this.#scheduler, this.#scheduler.takePreempted());
    this.#inFlight.push({ scheduled, places, others, result, drop, startMs, cpuMs: now() - startMs });
    return true;
  }

  async #takeIn(step: StepInFlight): Promise<void> {
    // The engine may die, or lose its device, meanwhile. Then this step's outcome, an error too, is of no interest.
    const isStale = () => this.#inFlight[0] !== step;
    const result = await step.result.catch((error: unknown) => {
      if (isStale()) return null;
      throw error;
    });
    if (result === null || isStale()) return;
    const { sequences, gpuMs, kernels } = result;
    const { scheduled, places, others, startMs, cpuMs } = step;
    const atMs = this.#options.now();
    const stepMs = atMs - Math.max(startMs, this.#lastCommitMs);
    this.#inFlight.shift();
    this.#lastCommitMs = atMs;
    const numTaken = this.#sequences.commit(scheduled, sequences, atMs);
    const rest = { ...others, atMs, stepMs, cpuMs: cpuMs + this.#options.now() - atMs, gpuMs };
    const { steps } = this.#sequences.counters;
    const report = reports.stepReport(steps, { scheduled, places }, numTaken, rest, this.#scheduler);
    this.#lastStep = report;
    this.#outbox.emit(report, kernels ? { step: report.step, kernels } : null);
    const masks = this.#awaitMasks(scheduled);
    // If no sequence could go on meanwhile, the waiting ones share the next step with these. A new request ends the wait.
    if (this.#sequences.haveAllGrammars) await Promise.race([masks, this.#woken()]);
  }

  async #awaitMasks(step: readonly ScheduledSequence[]): Promise<void> {
    const making = this.#sequences.prepareMasks(step, this.#options.now);
    if (making === null) return;
    this.#numMaskWaits += 1;
    await making;
    this.#numMaskWaits -= 1;
    this.#hasNewMasks = true;
    this.#outbox.emit(null);
    this.#wake();
  }

  /** Ends a request that the runner can't compute. */
  #refuse(requestId: string, error: unknown): void {
    const known = toChorusError(error);
    if (known.code === "device_lost") return this.lose(known);
    this.#sequences.abortRequest(requestId, this.#options.now(), known);
    this.#outbox.emit(null);
  }
}

function draftModelOf({ draft, config }: EngineOptions): DraftModel | null {
  return draft ? new DraftModel(draft.runner, { ...config, maxLength: draft.maxLength }) : null;
}
