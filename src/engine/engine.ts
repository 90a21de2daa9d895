import type { ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { FinishReason } from "../protocol/openai.ts";
import type { EngineStats, RequestReport, StepReport } from "../protocol/reports.ts";
import { checkAdmission, maxSequenceLength } from "./admission.ts";
import type { TokenBytes } from "./detokenizer.ts";
import { OutputProcessor, type OutputOptions, type SequenceOutput } from "./output.ts";
import { requestReport, stepReport } from "./reports.ts";
import type { Runner, SampledToken, ScheduledSequence } from "./runner.ts";
import type { SamplingParams } from "./sampling-params.ts";
import { Scheduler } from "./scheduler.ts";
import { Sequence } from "./sequence.ts";

export interface EngineOptions {
  readonly config: Pick<
    ResolvedEngineConfig,
    "maxNumSeqs" | "maxNumBatchedTokens" | "maxModelLen" | "blockSize" | "numGpuBlocks"
  >;
  readonly runner: Runner;
  /** The tokens that end a text, unless a request says ignoreEos. */
  readonly eosTokenIds: readonly number[];
  readonly tokenBytes: TokenBytes;
  /** The clock of all reports, in milliseconds. */
  readonly now: () => number;
  /** Called once a step with all that it brought, and between steps (report null) when something was queued or aborted. */
  readonly onOutputs: (
    outputs: readonly SequenceOutput[],
    report: StepReport | null,
    requests: readonly RequestReport[],
  ) => void;
  /** The engine is dead: whatever was open has ended without a further output. Called once, and nothing comes after. */
  readonly onFatal: (error: ChorusError) => void;
}

export interface EngineRequest {
  /** Unlike that of any other open request. */
  readonly requestId: string;
  /** Token ids. */
  readonly prompt: readonly number[];
  readonly params: SamplingParams;
  /** Number of choices. Choice i is a sequence of its own, drawn with the seed params.seed + i. */
  readonly n: number;
  /** The field the prompt came from ("messages", "prompt"), to be named when it is refused. */
  readonly param: string;
}

/**
 * Serves any number of requests on one runner, step by step: schedule -> submit -> commit -> emit. Requests join and
 * leave between steps; those that run share every step.
 */
export class Engine {
  readonly #options: EngineOptions;
  readonly #outputOptions: OutputOptions;
  readonly #scheduler: Scheduler;
  /** Every sequence that has not ended, with what makes text of its tokens. */
  readonly #open = new Map<Sequence, OutputProcessor>();

  // What happened since the last emit.
  #outputs: SequenceOutput[] = [];
  #requestReports: RequestReport[] = [];
  #emitting = false;

  // Counters since start. They only grow; rates are the reader's to derive.
  #steps = 0;
  #stepSequences = 0;
  #promptTokens = 0;
  #generationTokens = 0;
  readonly #endings: Record<FinishReason, number> = { stop: 0, length: 0, abort: 0 };

  #inFlight = false;
  /** To be aborted when the step in flight is over. */
  #aborted: Sequence[] = [];
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
  }

  /** Queues a request. Throws a ChorusError when it can never run, or the one that the engine died of. */
  add({ requestId, prompt, params, n, param }: EngineRequest): void {
    if (this.#error !== null) throw this.#error;
    checkAdmission(prompt.length, params.maxTokens, param, this.#options.config);
    const arrivalMs = this.#options.now();
    for (let index = 0; index < n; index++) {
      const choiceParams = { ...params, seed: addToSeed(params.seed, index) };
      const sequence = new Sequence({ requestId, index, params: choiceParams, prompt, arrivalMs });
      this.#open.set(sequence, new OutputProcessor(sequence, this.#outputOptions));
      this.#scheduler.add(sequence);
      this.#requestReports.push(requestReport(sequence, "queued"));
    }
    this.#emit(null);
    this.#wake();
  }

  /**
   * Ends a request with finishReason "abort": now, or when the step in flight is over (whose token it doesn't get).
   * What is not open is ignored.
   */
  abort(requestId: string): void {
    for (const sequence of this.#open.keys()) {
      if (sequence.requestId === requestId) this.#aborted.push(sequence);
    }
    if (this.#inFlight) return;
    this.#endAborted(this.#options.now());
    this.#emit(null);
  }

  /** Steps while there is work and sleeps otherwise, until the engine dies. There is one loop however often it is called. */
  run(): Promise<void> {
    return (this.#loop ??= this.#runLoop());
  }

  /** One step of the batch, for whoever drives the engine without run(). Does nothing when there is no work. */
  async step(): Promise<void> {
    if (this.#inFlight) throw new ChorusError("internal_error", "A step was asked for while another is in flight.");
    const { now, runner } = this.#options;
    try {
      const startMs = now();
      const step = this.#scheduler.schedule();
      if (step.length === 0) return;
      for (const { sequence } of step) sequence.scheduledMs ??= startMs;

      this.#inFlight = true;
      const sampling = runner.submit(step);
      const submitMs = now();
      const sampled = await sampling;
      this.#inFlight = false;
      if (this.#error !== null) return;

      const atMs = now();
      this.#endAborted(atMs);
      this.#commit(step, sampled, atMs);
      const cpuMs = submitMs - startMs + (now() - atMs);
      this.#emit(stepReport(this.#steps, step, { atMs, stepMs: atMs - startMs, cpuMs }, this.#scheduler));
    } catch (error) {
      this.fail(error);
    }
  }

  /** Ends the engine with everything open in it. The first error counts; it is what onFatal gets and add() throws. */
  fail(error: unknown): void {
    if (this.#error !== null) return;
    this.#error = error instanceof ChorusError ? error : internalError(error);
    for (const sequence of this.#open.keys()) this.#scheduler.finish(sequence, "abort");
    this.#open.clear();
    this.#outputs = [];
    this.#requestReports = [];
    this.#options.onFatal(this.#error);
    this.#wake();
  }

  /** Room for an answer to a prompt of this length; 0 or less: none. */
  maxTokensFor(promptLength: number): number {
    return this.#outputOptions.maxLength - promptLength;
  }

  stats(): EngineStats {
    const { pool, numRunning, numWaiting, numPreemptions } = this.#scheduler;
    return {
      num_requests_running: numRunning,
      num_requests_waiting: numWaiting,
      kv_cache_usage_perc: pool.numUsed / pool.numBlocks,
      num_preemptions_total: numPreemptions,
      prompt_tokens_total: this.#promptTokens,
      generation_tokens_total: this.#generationTokens,
      request_success_total: { ...this.#endings },
      engine_steps_total: this.#steps,
      step_sequences_total: this.#stepSequences,
      num_gpu_blocks: pool.numBlocks,
      num_gpu_blocks_free: pool.numFree,
    };
  }

  /** For tests: throws when a cache block or a slot is owned by nobody or by two. */
  assertConsistent(): void {
    this.#scheduler.assertConsistent();
  }

  async #runLoop(): Promise<void> {
    while (this.#error === null) {
      if (this.#open.size > 0) await this.step();
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Gives the sequences of a step their tokens, which all count as known at the same moment. */
  #commit(step: readonly ScheduledSequence[], sampled: readonly SampledToken[], atMs: number): void {
    const sampling = step.filter(({ samples }) => samples);
    for (const [i, { sequence }] of sampling.entries()) {
      const token = sampled[i];
      if (token === undefined) throw new Error(`The runner gave ${sampled.length} tokens for ${sampling.length}.`);
      const processor = this.#open.get(sequence);
      if (processor === undefined) continue; // aborted while the step was in flight

      sequence.tokens.push(token.tokenId);
      this.#generationTokens += 1;
      if (sequence.firstTokenMs === null) {
        sequence.firstTokenMs = atMs;
        this.#promptTokens += sequence.promptLength;
        this.#requestReports.push(requestReport(sequence, "first-token"));
      }
      const output = processor.push(token);
      this.#outputs.push(output);
      if (output.finishReason !== null) this.#end(sequence, output.finishReason, atMs);
    }
    this.#steps += 1;
    this.#stepSequences += step.length;
  }

  #endAborted(atMs: number): void {
    for (const sequence of this.#aborted) {
      const processor = this.#open.get(sequence);
      if (processor === undefined) continue; // asked for twice
      this.#outputs.push(processor.abort());
      this.#end(sequence, "abort", atMs);
    }
    this.#aborted = [];
  }

  #end(sequence: Sequence, reason: FinishReason, atMs: number): void {
    this.#scheduler.finish(sequence, reason);
    this.#open.delete(sequence);
    sequence.finishedMs = atMs;
    this.#endings[reason] += 1;
    this.#requestReports.push(requestReport(sequence, "finished"));
  }

  /** Hands over what has happened. A listener may add or abort: that is handed over when it returns, in order. */
  #emit(report: StepReport | null): void {
    if (this.#emitting) return;
    this.#emitting = true;
    try {
      while (report !== null || this.#outputs.length > 0 || this.#requestReports.length > 0) {
        const outputs = this.#outputs;
        const requests = this.#requestReports;
        this.#outputs = [];
        this.#requestReports = [];
        this.#options.onOutputs(outputs, report, requests);
        report = null;
      }
    } finally {
      this.#emitting = false;
    }
  }
}

/** Seeds are the integers below 2^53 and wrap around. */
function addToSeed(seed: number, offset: number): number {
  const wrapped = seed - 2 ** 53 + offset;
  return wrapped < 0 ? seed + offset : wrapped;
}

function internalError(cause: unknown): ChorusError {
  return new ChorusError("internal_error", cause instanceof Error ? cause.message : String(cause), null, { cause });
}
