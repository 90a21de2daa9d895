import { answerId, numChoices, toldOutput, type AnswerHead, type TokenNames } from "../api/answer.ts";
import { ChunkWriter } from "../api/chunks.ts";
import type { ParsedRequest } from "../api/parsed-request.ts";
import { ResponseBuilder } from "../api/responses.ts";
import type { EngineRequest } from "../engine/engine-options.ts";
import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";
import type { SequenceOutput } from "../engine/text/output.ts";
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
  }

  /** @param matchers one per choice; null without a grammar */
  engineRequests(matchers: readonly GrammarMatcher[] | null = null): EngineRequest[] {
    const { prompts, n, beamSearch, priority, cacheSalt, deadlineMs } = this.parsed;
    return this.engineRequestIds.map((requestId, i) => {
      const prompt = prompts[i];
      if (!prompt) throw new RangeError(`prompt ${i} of ${prompts.length}`);
      const { tokenIds, params, param } = prompt;
      const own = matchers?.slice(i * n, (i + 1) * n) ?? null;
      return {
        requestId,
        prompt: tokenIds,
        params,
        n,
        beamSearch,
        matchers: own,
        param,
        priority,
        cacheSalt,
        deadlineMs,
      };
    });
  }

  get isFinished(): boolean {
    return this.#openChoices === 0;
  }

  /** Returns the events that a sequence's output causes. */
  take(output: SequenceOutput): RequestEvent[] {
    const { ticket } = this;
    const choice = this.engineRequestIds.indexOf(output.requestId) * this.parsed.n + output.index;
    if (output.finishReason !== null) this.#openChoices -= 1;
    const told = toldOutput(this.parsed, output);
    if (this.#answer instanceof ResponseBuilder) {
      this.#answer.add(choice, told);
      return this.isFinished ? [{ type: "response", ticket, response: this.#answer.build() }] : [];
    }
    const chunks = this.#answer.write(choice, told);
    if (this.isFinished) chunks.push(...this.#answer.end());
    const events = chunks.map((chunk): RequestEvent => ({ type: "chunk", ticket, chunk }));
    return this.isFinished ? [...events, { type: "end", ticket }] : events;
  }
}
