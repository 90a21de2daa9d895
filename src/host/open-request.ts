import { answerId, numChoices, reportedOutput, type AnswerHead, type ChoiceOutput } from "../api/answer.ts";
import { ChunkWriter } from "../api/chunks.ts";
import type { ParsedRequest } from "../api/parsed-request.ts";
import { ResponseBuilder } from "../api/responses.ts";
import type { TokenNames } from "../api/token-names.ts";
import type { EngineRequest } from "../engine/engine-request.ts";
import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import { RequestFigures } from "../engine/metrics/request-figures.ts";
import type { SequenceOutput } from "../engine/text/output.ts";
import type { AnswerWarning } from "../protocol/openai.ts";
import type { RequestReport, SequenceId, StepEntry, StepReport } from "../protocol/reports.ts";
import type { RequestEvent } from "../protocol/service.ts";

/**
 * An open request of the page. Each of its prompts is a separate request to the engine. Their outputs become the chunks
 * or the response of one answer.
 */
export class OpenRequest {
  readonly ticket: number;
  readonly parsed: ParsedRequest;
  /** The engine's request id for each prompt. */
  readonly engineRequestIds: readonly string[];
  readonly #answer: ChunkWriter | ResponseBuilder;
  /** Null: nobody wants them. */
  readonly #figures: RequestFigures | null;
  #openChoices: number;

  constructor(ticket: number, parsed: ParsedRequest, model: string, names: TokenNames) {
    this.ticket = ticket;
    this.parsed = parsed;
    const head: AnswerHead = {
      id: answerId(parsed.endpoint, parsed.requestId ?? crypto.randomUUID()),
      created: Math.floor(Date.now() / 1000),
      model,
    };
    this.engineRequestIds = parsed.prompts.map((_, prompt) => (prompt === 0 ? head.id : `${head.id}#${prompt}`));
    this.#answer = parsed.stream ? new ChunkWriter(parsed, head, names) : new ResponseBuilder(parsed, head, names);
    this.#openChoices = numChoices(parsed);
    this.#figures = parsed.includeMetrics ? new RequestFigures(this.#openChoices) : null;
  }

  /** @param matchers one per choice; null without a grammar */
  engineRequests(matchers: readonly GrammarMatcher[] | null = null): EngineRequest[] {
    const { prompts, n, beamSearch, reasoning, calls, priority, cacheSalt, deadlineMs } = this.parsed;
    const shared = { n, beamSearch, reasoning, ...(calls && { signs: calls.format.tokens }) };
    return prompts.map(({ tokenIds, params, param }, i) => ({
      requestId: this.engineRequestIds[i] ?? "",
      prompt: tokenIds,
      params,
      param,
      ...shared,
      matchers: matchers?.slice(i * n, (i + 1) * n) ?? null,
      priority,
      cacheSalt,
      deadlineMs,
    }));
  }

  /** Lets the answer have warnings; before its first output. */
  warn(warnings: readonly AnswerWarning[]): void {
    this.#answer.warnings = warnings;
  }

  get isFinished(): boolean {
    return this.#openChoices === 0;
  }

  /** Takes a sequence's share of a step, before the outputs of the step. */
  observeStep(entry: StepEntry, report: StepReport): void {
    if (this.#figures === null) return;
    const choice = this.#choiceOf(entry);
    // The steps of a search are those of all its choices. Reports name it after the first.
    const numSharing = this.parsed.beamSearch === null ? 1 : this.parsed.n;
    for (let i = 0; i < numSharing; i++) this.#figures.observeStep(choice + i, entry, report);
  }

  /** Takes a report about one of its choices, before the outputs of the same moment. */
  observeRequest(report: RequestReport): void {
    // The token that is drawn after a scored prompt is not part of the answer.
    const reported = this.parsed.isPromptOnly ? { ...report, outputTokens: 0 } : report;
    this.#figures?.observeRequest(this.#choiceOf(report), reported);
  }

  /** Returns the events that a sequence's output causes. */
  take(output: SequenceOutput): RequestEvent[] {
    const { ticket } = this;
    if (output.error !== null) {
      this.#openChoices = 0;
      return [{ type: "error", ticket, error: output.error }];
    }
    const choice = this.#choiceOf(output);
    if (output.finishReason !== null) this.#openChoices -= 1;
    const reported = this.#withMetrics(choice, reportedOutput(this.parsed, output));
    const metrics = (this.isFinished && this.#figures?.metrics(this.parsed.prompts.length)) || null;
    if (this.#answer instanceof ResponseBuilder) {
      this.#answer.add(choice, reported);
      return this.isFinished ? [{ type: "response", ticket, response: this.#answer.build(metrics) }] : [];
    }
    const text = this.#answer.writeText(choice, reported);
    if (text !== null) return text === "" ? [] : [{ type: "text", ticket, choice, text }];
    const written = this.#answer.write(choice, reported);
    const chunks = this.isFinished ? this.#answer.end(written, metrics) : written;
    const events = chunks.map((chunk): RequestEvent => ({ type: "chunk", ticket, chunk }));
    return this.isFinished ? [...events, { type: "end", ticket }] : events;
  }

  #choiceOf({ requestId, index }: SequenceId): number {
    return this.engineRequestIds.indexOf(requestId) * this.parsed.n + index;
  }

  #withMetrics(choice: number, output: ChoiceOutput): ChoiceOutput {
    const isOneOfSeveral = numChoices(this.parsed) > 1;
    if (this.#figures === null || output.finishReason === null || !isOneOfSeveral) return output;
    return { ...output, metrics: this.#figures.metricsOf(choice) };
  }
}
