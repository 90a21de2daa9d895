// Whole answers: the outputs of all steps, as OpenAI's responses.

import type {
  AnswerWarning,
  ChatCompletionChoice,
  CompletionChoice,
  CompletionLogprobs,
  FinishReason,
} from "../protocol/openai.ts";
import type { RequestMetrics } from "../protocol/request-metrics.ts";
import type { Response } from "../protocol/service.ts";
import { echoedText, numChoices, promptTokenIds, UsageCounter, type AnswerHead, type ChoiceOutput } from "./answer.ts";
import { callsOf, type AnswerCalls } from "./tools/answer-calls.ts";
import { chatLogprobs, completionLogprobs, echoedLogprobs, inTurn, promptLogprobs } from "./logprobs.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import type { TokenNames } from "./token-names.ts";

interface CollectedChoice {
  text: string;
  reasoning: string;
  readonly tokenIds: number[];
  readonly logprobs: number[];
  readonly topLogprobs: ChoiceOutput["topLogprobs"][number][];
  readonly promptScores: ChoiceOutput["promptScores"][number][];
  finishReason: FinishReason;
  stopReason: string | number | null;
  score: number | null;
  metrics?: RequestMetrics;
}

/** Collects the outputs of one request's choices. */
export class ResponseBuilder {
  readonly #request: ParsedRequest;
  readonly #head: AnswerHead;
  readonly #names: TokenNames;
  readonly #choices: readonly CollectedChoice[];
  readonly #usage: UsageCounter;
  /** Set before the last output. */
  warnings: readonly AnswerWarning[] = [];
  /** By choice; null where nothing can be called. */
  readonly #calls: readonly AnswerCalls[] | null;

  constructor(request: ParsedRequest, head: AnswerHead, names: TokenNames) {
    this.#request = request;
    this.#head = head;
    this.#names = names;
    this.#usage = new UsageCounter(request);
    this.#calls = callsOf(request);
    this.#choices = Array.from({ length: numChoices(request) }, (_, choice) => ({
      text: echoedText(request, choice, names),
      reasoning: "",
      tokenIds: [],
      logprobs: [],
      topLogprobs: [],
      promptScores: [],
      finishReason: "abort",
      stopReason: null,
      score: null,
    }));
  }

  add(choice: number, output: ChoiceOutput): void {
    const collected = this.#choices[choice];
    if (collected === undefined) throw new RangeError(`choice ${choice} of ${this.#choices.length}`);
    this.#usage.add(choice, output);
    collected.text += output.text;
    this.#calls?.[choice]?.push(output.text, output.finishReason !== null);
    collected.reasoning += output.reasoning;
    collected.tokenIds.push(...output.tokenIds);
    collected.logprobs.push(...output.logprobs);
    collected.topLogprobs.push(...output.topLogprobs);
    collected.promptScores.push(...output.promptScores);
    if (output.finishReason === null) return;
    collected.finishReason = output.finishReason;
    collected.stopReason = output.stopReason;
    collected.score = output.score;
    if (output.metrics) collected.metrics = output.metrics;
  }

  /**
   * After the last output.
   * @param metrics null: the request does not want them
   */
  build(metrics: RequestMetrics | null): Response {
    const usage = this.#usage.usage();
    const more = {
      ...(metrics !== null && { metrics }),
      ...(this.warnings.length > 0 && { warnings: [...this.warnings] }),
    };
    return this.#request.endpoint === "chat.completions"
      ? {
          ...this.#head,
          object: "chat.completion",
          choices: this.#choices.map((c, i) => this.#chatChoice(c, i)),
          usage,
          ...this.#promptLogprobs(this.#choices[0]),
          ...more,
        }
      : {
          ...this.#head,
          object: "text_completion",
          choices: this.#choices.map((c, i) => this.#completionChoice(c, i)),
          usage,
          ...more,
        };
  }

  #chatChoice(choice: CollectedChoice, index: number): ChatCompletionChoice {
    const { reasoning, text: content, finishReason } = choice;
    const calls = this.#calls?.[index];
    const said = calls?.message() ?? { content };
    return {
      index,
      message: { role: "assistant", ...said, ...(reasoning !== "" && { reasoning_content: reasoning }) },
      logprobs: this.#request.wantLogprobs ? { content: chatLogprobs(choice, this.#names, this.#request) } : null,
      ...this.#ending(choice, index),
      ...(calls && { finish_reason: calls.finishReason(finishReason) }),
    };
  }

  #completionChoice(choice: CollectedChoice, index: number): CompletionChoice {
    return {
      index,
      text: choice.text,
      logprobs: this.#request.wantLogprobs ? this.#completionLogprobs(choice, index) : null,
      ...this.#ending(choice, index),
      ...this.#promptLogprobs(choice),
    };
  }

  #completionLogprobs(choice: CollectedChoice, index: number): CompletionLogprobs {
    const echoed = echoedLogprobs(this.#request, index, choice.promptScores);
    return completionLogprobs(this.#request, inTurn(echoed, choice), this.#names, 0);
  }

  /** Left out unless requested. */
  #promptLogprobs(choice: CollectedChoice | undefined) {
    const numTop = this.#request.promptLogprobs;
    if (choice === undefined || numTop === null) return {};
    return { prompt_logprobs: promptLogprobs(choice.promptScores, numTop, this.#names) };
  }

  #ending({ finishReason, stopReason, score, tokenIds, metrics }: CollectedChoice, index: number) {
    return {
      finish_reason: finishReason,
      stop_reason: stopReason,
      ...(this.#request.beamSearch && { beam_score: score }),
      ...(this.#request.returnTokenIds && {
        token_ids: [...tokenIds],
        prompt_token_ids: promptTokenIds(this.#request, index),
      }),
      ...(metrics && { metrics }),
    };
  }
}
