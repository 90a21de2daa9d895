import type { AnswerWarning, CompletionChoice, CompletionLogprobs } from "../protocol/openai.ts";
import { promptTokenIds, UsageCounter, type AnswerHead, type ChoiceOutput } from "./answer.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import type { TokenNames } from "./token-names.ts";
import { callsOf, type AnswerCalls } from "./tools/answer-calls.ts";

/** Turns the outputs of one request's choices into OpenAI's shapes. */
export abstract class AnswerWriter {
  protected readonly request: ParsedRequest;
  protected readonly head: AnswerHead;
  protected readonly names: TokenNames;
  protected readonly usage: UsageCounter;
  /** By choice; null where nothing can be called. */
  protected readonly calls: readonly AnswerCalls[] | null;
  /** Set before the first output. */
  warnings: readonly AnswerWarning[] = [];

  constructor(request: ParsedRequest, head: AnswerHead, names: TokenNames) {
    this.request = request;
    this.head = head;
    this.names = names;
    this.usage = new UsageCounter(request);
    this.calls = callsOf(request);
  }

  /** @param isFirst whether this is the beginning of the choice's text */
  protected completionChoice(
    index: number,
    output: ChoiceOutput,
    logprobs: CompletionLogprobs | null,
    isFirst: boolean,
  ): CompletionChoice {
    return { index, text: output.text, logprobs, ...this.ending(output), ...(isFirst && this.promptIds(index)) };
  }

  /** Returns why a choice ends, if it does, and what is requested of its tokens. */
  protected ending({ tokenIds, finishReason, stopReason, score, metrics }: ChoiceOutput) {
    return {
      finish_reason: finishReason,
      ...(finishReason !== null && { stop_reason: stopReason }),
      ...(finishReason !== null && this.request.beamSearch && { beam_score: score }),
      ...(this.request.returnTokenIds && { token_ids: [...tokenIds] }),
      ...(metrics && { metrics }),
    };
  }

  /** Left out unless requested. */
  protected promptIds(choice: number): { prompt_token_ids?: number[] } {
    return this.request.returnTokenIds ? { prompt_token_ids: promptTokenIds(this.request, choice) } : {};
  }
}
