import type { FinishReason } from "../../protocol/openai.ts";
import { ChorusError, toChorusError } from "../../protocol/errors.ts";
import { BeamGroup } from "../beams/beam-group.ts";
import type { EngineRequest } from "../engine-request.ts";
import type { Outbox } from "./outbox.ts";
import { OutputProcessor, type OutputOptions } from "../text/output.ts";
import { newCounters, requestReport, type EngineCounters } from "./reports.ts";
import { sequencesOf } from "./request-sequences.ts";
import type { SampledToken, SequenceResult } from "../runner.ts";
import { hasRules } from "../sampling/logit-rules.ts";
import { LOWEST_LOGPROB } from "../sampling/sampling-params.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";
import type { ScheduledSequence, Sequence } from "../sequence.ts";

/** Stop reason of a sequence whose grammar and rules allow no next token. */
const NO_TOKEN_LEFT = "no_token_left";
const MODEL_NUMERICS = new ChorusError(
  "model_numerics",
  "The model's logits are not numbers, or are infinite. Its weights are damaged, or too large for their dtype here; " +
    'dtype "f32" may help.',
);
const NO_RESULT: SequenceResult = { scored: [], drawn: [] };

/**
 * Holds every sequence from its arrival to its end. Gives sequences their tokens, emits text and reports, counts, and frees
 * blocks.
 */
export class OpenSequences {
  readonly counters: EngineCounters = newCounters();
  readonly #options: OutputOptions;
  readonly #scheduler: Scheduler;
  readonly #outbox: Outbox;
  /** Each sequence with its detokenizer. */
  readonly #open = new Map<Sequence, OutputProcessor>();
  readonly #deadlines = new Set<Sequence>();

  constructor(options: OutputOptions, scheduler: Scheduler, outbox: Outbox) {
    this.#options = options;
    this.#scheduler = scheduler;
    this.#outbox = outbox;
  }

  get size(): number {
    return this.#open.size;
  }

  get haveAllGrammars(): boolean {
    return [...this.#open.keys()].every(({ matcher }) => matcher !== null);
  }

  /** The earliest deadline; Infinity if there is none. */
  get nextDeadlineMs(): number {
    let next = Infinity;
    for (const { deadlineMs } of this.#deadlines) next = Math.min(next, deadlineMs);
    return next;
  }

  add(request: EngineRequest, arrivalMs: number): void {
    const { choices, served } = sequencesOf(request, arrivalMs, this.#options);
    for (const choice of choices) {
      this.#open.set(choice, new OutputProcessor(choice, request, this.#options));
      if (choice.deadlineMs < Infinity) this.#deadlines.add(choice);
      this.#outbox.addReport(requestReport(choice, "queued"));
    }
    for (const sequence of served) this.#scheduler.add(sequence);
  }

  /** Gives the sequences of a step their tokens. Returns the number that each one took. */
  commit(step: readonly ScheduledSequence[], results: readonly SequenceResult[], atMs: number): number[] {
    this.counters.steps += 1;
    this.counters.stepSequences += step.length;
    return step.map((scheduled, i) => {
      const { sequence, start } = scheduled;
      const { scored, drawn } = results[i] ?? NO_RESULT;
      if (!scored.every(hasProbability)) this.#endByNumerics(sequence, atMs);
      if (scored.length > 0) sequence.addPromptScores(start, scored);
      if (sequence.group instanceof BeamGroup) return this.#takeBeam(scheduled, sequence.group, drawn, atMs);
      // The step also computed rows for sequences that ended meanwhile; drop their tokens.
      return this.#open.has(sequence) ? this.#takeAll(scheduled, drawn, atMs) : 0;
    });
  }

  /**
   * Prepares the next masks of sequences with grammars; null if there are none. These sequences get no rows until all masks
   * of a step are ready, so they share the next step too. Never rejects.
   */
  prepareMasks(step: readonly ScheduledSequence[], now: () => number): Promise<void> | null {
    const making = step.flatMap(({ sequence, samples }) => {
      const { matcher } = sequence;
      if (!samples || matcher === null || sequence.isFinished) return [];
      sequence.hold();
      const made = matcher.prepareMask().then((isThere) => (isThere ? null : NO_TOKEN_LEFT), toChorusError);
      return [made.then((problem) => ({ sequence, problem }))];
    });
    if (making.length === 0) return null;
    return Promise.all(making).then((masks) => {
      for (const { sequence, problem } of masks) {
        sequence.release();
        if (problem !== null) this.#abort(sequence, problem, now());
      }
    });
  }

  abortRequest(requestId: string, atMs: number, error: ChorusError | null = null): void {
    for (const sequence of this.#open.keys()) {
      if (sequence.requestId === requestId) this.#abort(sequence, error, atMs);
    }
  }

  abortOverdue(atMs: number): void {
    for (const sequence of this.#deadlines) {
      if (sequence.deadlineMs <= atMs) this.#abort(sequence, "deadline", atMs);
    }
  }

  /** Ends all sequences without outputs or reports. */
  drop(): void {
    for (const sequence of this.#open.keys()) this.#finish(sequence, "abort");
    this.#open.clear();
    this.#deadlines.clear();
  }

  #takeAll(scheduled: ScheduledSequence, drawn: readonly SampledToken[], atMs: number): number {
    const { sequence, start, count, samples, drafts } = scheduled;
    // Tokens drawn after a wrong draft are worthless.
    let accepted = 0;
    while (accepted < drafts.length && drawn[accepted]?.tokenId === drafts[accepted]) accepted += 1;
    const areComputed = drafts.length === 0 || this.#scheduler.settleDrafts(sequence, accepted);

    const numWritten = start + count - drafts.length;
    this.#scheduler.commit(sequence, numWritten);
    if (!samples) return 0;
    if (drawn.length <= drafts.length) throw new Error("The runner gave too few tokens.");
    let taken = 0;
    for (const token of drawn.slice(0, accepted + 1)) {
      if (taken > 0 && areComputed) this.#scheduler.commit(sequence, numWritten + taken);
      this.#take(sequence, token, atMs);
      taken += 1;
      if (sequence.isFinished) break;
    }
    return taken;
  }

  #take(sequence: Sequence, token: SampledToken, atMs: number): void {
    if (sequence.isFinished) return; // a stop string may end an answer of beam search early
    if (!hasProbability(token) || isImpossible(token, sequence)) return this.#endByNumerics(sequence, atMs);
    // Other rules forbid everything that the grammar allows, so the draw was from nothing.
    if (sequence.matcher?.accept(token.tokenId) === false) return this.#abort(sequence, NO_TOKEN_LEFT, atMs);
    sequence.append(token.tokenId);
    this.counters.generationTokens += 1;
    this.#noteFirstToken(sequence, atMs);
    const output = this.#open.get(sequence)?.push(token);
    if (output === undefined) return;
    this.#outbox.addOutput(output);
    if (output.finishReason !== null) this.#end(sequence, output.finishReason, atMs);
  }

  #noteFirstToken(sequence: Sequence, atMs: number): void {
    if (sequence.firstTokenMs !== null) return;
    sequence.noteFirstToken(atMs);
    this.counters.promptTokens += sequence.promptLength;
    this.#outbox.addReport(requestReport(sequence, "first-token"));
  }

  /** Counts a round as one token of the beam that completed it. Choices get their answers at the end. */
  #takeBeam(scheduled: ScheduledSequence, group: BeamGroup, drawn: readonly SampledToken[], atMs: number): number {
    const { sequence, start, count, samples } = scheduled;
    if (sequence.isFinished) return 0;
    this.#scheduler.commit(sequence, start + count);
    if (!drawn.every(hasProbability)) {
      this.#endByNumerics(sequence, atMs);
      return 0;
    }
    const round = samples ? group.deliver(sequence, drawn[0]?.top ?? []) : null;
    if (round === null) return 0;
    for (const dropped of round.dropped) this.#scheduler.finish(dropped, "stop");
    for (const fork of round.forks) this.#scheduler.add(fork);
    for (const choice of this.#open.keys()) {
      if (choice.group !== group) continue;
      group.describe(choice, round);
      this.#noteFirstToken(choice, atMs);
      for (const token of round.answers?.[choice.index]?.tokens ?? []) this.#take(choice, token, atMs);
      if (round.answers !== null) this.#abort(choice, "no_candidates", atMs); // the rules left too few
    }
    return 1;
  }

  /** The scheduler has never had a choice of a beam search, only its beams. */
  #finish(sequence: Sequence, reason: FinishReason): void {
    for (const one of [sequence, ...(sequence.group?.members ?? [])]) this.#scheduler.finish(one, reason);
  }

  #abort(sequence: Sequence, reason: string | ChorusError | null, atMs: number): void {
    const processor = this.#open.get(sequence);
    if (processor === undefined) return;
    this.#outbox.addOutput(processor.abort(reason));
    this.#end(sequence, "abort", atMs);
  }

  /** Ends a request whose logits are no numbers, because the model is broken or overflows: it would only repeat one token. */
  #endByNumerics({ requestId }: Sequence, atMs: number): void {
    this.abortRequest(requestId, atMs, MODEL_NUMERICS);
  }

  #end(sequence: Sequence, reason: FinishReason, atMs: number): void {
    this.#finish(sequence, reason);
    this.#open.delete(sequence);
    this.#deadlines.delete(sequence);
    sequence.noteEnd(atMs);
    this.counters.endings[reason] += 1;
    this.#outbox.addReport(requestReport(sequence, "finished"));
  }
}

function hasProbability({ logprob }: SampledToken): boolean {
  return Number.isFinite(logprob);
}

/** Whether an impossible token was drawn, though no rule forbids any. */
function isImpossible({ logprob }: SampledToken, { params, matcher, group }: Sequence): boolean {
  return logprob <= LOWEST_LOGPROB && matcher === null && group === null && !hasRules(params);
}
