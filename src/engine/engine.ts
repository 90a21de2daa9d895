import type { BatchingMode } from "../protocol/config.ts";
import { ChorusError, toChorusError } from "../protocol/errors.ts";
import type { FinishReason } from "../protocol/openai.ts";
import type { EngineStats, KvCacheMap } from "../protocol/reports.ts";
import { checkRequests, maxSequenceLength } from "./admission.ts";
import type { BeamGroup } from "./beam-group.ts";
import type { EngineOptions, EngineRequest } from "./engine-options.ts";
import { OutputProcessor, type OutputOptions } from "./output.ts";
import { Outbox } from "./outbox.ts";
import { kvCacheMap } from "./kv-cache-map.ts";
import * as reports from "./reports.ts";
import type { SampledToken, ScheduledSequence, StepResult } from "./runner.ts";
import type { SchedulerLimits } from "./scheduler-config.ts";
import { Scheduler } from "./scheduler.ts";
import { sequencesOf } from "./request-sequences.ts";
import type { Sequence } from "./sequence.ts";
import type { StepInFlight } from "./step-in-flight.ts";

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
  readonly #outputOptions: OutputOptions;
  readonly #scheduler: Scheduler;
  readonly #outbox: Outbox;
  /** Every sequence that has not ended, with what makes text of its tokens. */
  readonly #open = new Map<Sequence, OutputProcessor>();
  /** Of those, the ones with a deadline. */
  readonly #deadlines = new Set<Sequence>();
  /** Submitted steps, oldest first. */
  readonly #inFlight: StepInFlight[] = [];

  readonly #counters: reports.EngineCounters = reports.newCounters();
  #lastCommitMs = -Infinity;
  #isStepping = false;
  #error: ChorusError | null = null;
  #loop: Promise<void> | null = null;
  #wake = (): void => {};

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#outputOptions = {
      tokenBytes: options.tokenBytes,
      eosTokenIds: new Set(options.eosTokenIds),
      maxLength: maxSequenceLength(options.config),
    };
    this.#scheduler = new Scheduler(options.config);
    this.#outbox = new Outbox(options.onOutputs);
  }

  /**
   * Queues requests, all or none. Throws a ChorusError when one can't run here or they can't all wait here, or the one
   * that the engine died of.
   */
  add(...requests: readonly EngineRequest[]): void {
    if (this.#error !== null) throw this.#error;
    checkRequests(requests, this.#outputOptions.eosTokenIds, this.#scheduler, this.#options.config);
    const arrivalMs = this.#options.now();
    for (const request of requests) this.#queue(request, arrivalMs);
    this.#outbox.emit(null);
    this.#wake();
  }

  /** Ends a request with finishReason "abort". Tokens on their way to it are dropped. What is not open is ignored. */
  abort(requestId: string): void {
    const atMs = this.#options.now();
    for (const sequence of this.#open.keys()) {
      if (sequence.requestId === requestId) this.#abort(sequence, null, atMs);
    }
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
    for (const sequence of this.#open.keys()) this.#finish(sequence, "abort");
    this.#open.clear();
    this.#deadlines.clear();
    this.#inFlight.length = 0;
    this.#outbox.clear();
    this.#options.onFatal(this.#error);
    this.#wake();
  }

  stats(): EngineStats {
    return reports.engineStats(this.#scheduler, this.#counters);
  }

  kvCacheMap(): KvCacheMap {
    return kvCacheMap(this.#scheduler);
  }

  /** For tests: throws when a cache block or a slot is owned by nobody or by two. */
  assertConsistent(): void {
    this.#scheduler.assertConsistent();
  }

  #queue(request: EngineRequest, arrivalMs: number): void {
    const { choices, served } = sequencesOf(request, arrivalMs, this.#outputOptions);
    for (const choice of choices) {
      this.#open.set(choice, new OutputProcessor(choice, this.#outputOptions));
      if (choice.deadlineMs < Infinity) this.#deadlines.add(choice);
      this.#outbox.addReport(reports.requestReport(choice, "queued"));
    }
    for (const sequence of served) this.#scheduler.add(sequence);
  }

  async #runLoop(): Promise<void> {
    while (this.#error === null) {
      if (!(await this.step()) && this.#error === null) await this.#sleep();
    }
  }

  /** Until there is something to do: a request, the end of a batch window, a deadline. */
  async #sleep(): Promise<void> {
    const woken = new Promise<void>((resolve) => (this.#wake = resolve));
    if (this.#open.size === 0) return woken;
    let { wakesAtMs } = this.#scheduler;
    for (const { deadlineMs } of this.#deadlines) wakesAtMs = Math.min(wakesAtMs, deadlineMs);
    if (wakesAtMs === Infinity) {
      return this.fail(new Error(`${this.#open.size} sequences are open, and none of them can go on.`));
    }
    await Promise.race([woken, this.#options.delay(Math.max(0, wakesAtMs - this.#options.now()))]);
  }

  /** Plans a step and hands it to the runner; false when there is nothing to plan, or nothing before others are in. */
  #submit(): boolean {
    const { now, runner } = this.#options;
    const startMs = now();
    const plan = this.#scheduler.schedule(startMs, this.#inFlight.length === 0);
    if (plan.length === 0) return false;
    for (const { sequence } of plan) sequence.scheduledMs ??= startMs;
    const result = runner.submit(plan);
    result.catch(() => undefined); // it is awaited later, and its error told then
    const others = reports.planReport(this.#scheduler);
    this.#inFlight.push({ plan, others, result, startMs, cpuMs: now() - startMs });
    return true;
  }

  async #takeIn({ plan, others, result, startMs, cpuMs }: StepInFlight): Promise<void> {
    const { tokens, gpuMs } = await result;
    if (this.#error !== null) return;
    const atMs = this.#options.now();
    const stepMs = atMs - Math.max(startMs, this.#lastCommitMs);
    this.#inFlight.shift();
    this.#lastCommitMs = atMs;
    const numTaken = this.#commit(plan, tokens, atMs);
    const rest = { ...others, atMs, stepMs, cpuMs: cpuMs + this.#options.now() - atMs, gpuMs };
    this.#outbox.emit(reports.stepReport(this.#counters.steps, plan, numTaken, rest, this.#scheduler));
  }

  /** Gives the sequences of a step their tokens, which all count as known at the same moment; returns how many to each. */
  #commit(plan: readonly ScheduledSequence[], tokens: StepResult["tokens"], atMs: number): number[] {
    let sample = 0;
    this.#counters.steps += 1;
    this.#counters.stepSequences += plan.length;
    return plan.map((scheduled) => {
      const drawn = scheduled.samples ? tokens.slice(sample, (sample += 1 + scheduled.drafts.length)) : [];
      if (scheduled.sequence.group !== null) return this.#takeBeam(scheduled, scheduled.sequence.group, drawn, atMs);
      // Of what ended while the step was in flight, rows were computed, but no token is taken.
      return this.#open.has(scheduled.sequence) ? this.#takeAll(scheduled, drawn, atMs) : 0;
    });
  }

  #takeAll(scheduled: ScheduledSequence, drawn: readonly SampledToken[], atMs: number): number {
    const { sequence, start, count, samples, drafts } = scheduled;
    // A draft that was wrong makes what was drawn after it worthless.
    let accepted = 0;
    while (accepted < drafts.length && drawn[accepted]?.tokenId === drafts[accepted]) accepted += 1;
    if (drafts.length > 0) this.#scheduler.drafter?.settle(sequence, accepted);

    const numWritten = start + count - drafts.length;
    this.#scheduler.commit(sequence, numWritten);
    if (!samples) return 0;
    if (drawn.length <= drafts.length) throw new Error("The runner gave too few tokens.");
    let taken = 0;
    for (const token of drawn.slice(0, accepted + 1)) {
      if (taken > 0) this.#scheduler.commit(sequence, numWritten + taken);
      this.#take(sequence, token, atMs);
      taken += 1;
      if (sequence.isFinished) break;
    }
    return taken;
  }

  #take(sequence: Sequence, token: SampledToken, atMs: number): void {
    if (sequence.isFinished) return; // a stop string may end an answer that was found whole
    if (sequence.group === null) sequence.numPlaceholders -= 1;
    sequence.tokens.push(token.tokenId);
    this.#counters.generationTokens += 1;
    this.#noteFirstToken(sequence, atMs);
    const output = this.#open.get(sequence)?.push(token);
    if (output === undefined) return;
    this.#outbox.addOutput(output);
    if (output.finishReason !== null) this.#end(sequence, output.finishReason, atMs);
  }

  #noteFirstToken(sequence: Sequence, atMs: number): void {
    if (sequence.firstTokenMs !== null) return;
    sequence.firstTokenMs = atMs;
    this.#counters.promptTokens += sequence.promptLength;
    this.#outbox.addReport(reports.requestReport(sequence, "first-token"));
  }

  /** A round counts as one token, of the beam that it waited for. Choices get their answers at the end. */
  #takeBeam(scheduled: ScheduledSequence, group: BeamGroup, drawn: readonly SampledToken[], atMs: number): number {
    const { sequence, start, count, samples } = scheduled;
    if (sequence.isFinished) return 0;
    this.#scheduler.commit(sequence, start + count);
    const round = samples ? group.deliver(sequence, drawn[0]?.top ?? []) : null;
    if (round === null) return 0;
    for (const dropped of round.dropped) this.#scheduler.finish(dropped, "stop");
    for (const fork of round.forks) this.#scheduler.add(fork);
    for (const choice of this.#open.keys()) {
      if (choice.group !== group) continue;
      group.describe(choice, round);
      this.#noteFirstToken(choice, atMs);
      for (const token of round.answers?.[choice.index]?.tokens ?? []) this.#take(choice, token, atMs);
      if (round.answers !== null) this.#abort(choice, "no_candidates", atMs); // the rules have left too few
    }
    return 1;
  }

  #endOverdue(): void {
    if (this.#deadlines.size === 0) return;
    const atMs = this.#options.now();
    for (const sequence of this.#deadlines) {
      if (sequence.deadlineMs <= atMs) this.#abort(sequence, "deadline", atMs);
    }
    this.#outbox.emit(null);
  }

  /** A choice of a beam search was never served, but its beams were. */
  #finish(sequence: Sequence, reason: FinishReason): void {
    for (const one of [sequence, ...(sequence.group?.members ?? [])]) this.#scheduler.finish(one, reason);
  }

  #abort(sequence: Sequence, stopReason: string | null, atMs: number): void {
    const processor = this.#open.get(sequence);
    if (processor === undefined) return;
    this.#outbox.addOutput(processor.abort(stopReason));
    this.#end(sequence, "abort", atMs);
  }

  #end(sequence: Sequence, reason: FinishReason, atMs: number): void {
    this.#finish(sequence, reason);
    this.#open.delete(sequence);
    this.#deadlines.delete(sequence);
    sequence.finishedMs = atMs;
    this.#counters.endings[reason] += 1;
    this.#outbox.addReport(reports.requestReport(sequence, "finished"));
  }
}
