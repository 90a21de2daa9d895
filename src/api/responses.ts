import type { ChatCompletionChoice, CompletionChoice } from "../protocol/openai.ts";
import type { RequestMetrics } from "../protocol/request-metrics.ts";
import type { Response } from "../protocol/service.ts";
import { AnswerWriter } from "./answer-writer.ts";
import { echoedText, numChoices, type ChoiceOutput } from "./answer.ts";
import { chatLogprobs, completionLogprobs, echoedLogprobs, inTurn, promptLogprobs } from "./logprobs.ts";

/** Collects the outputs of one request's choices. */
export class ResponseBuilder extends AnswerWriter {
  readonly #outputs: readonly ChoiceOutput[][] = Array.from({ length: numChoices(this.request) }, () => []);

  add(choice: number, output: ChoiceOutput): void {
    this.usage.add(choice, output);
    this.calls?.[choice]?.push(output.text, output.finishReason !== null);
    this.#outputs[choice]?.push(output);
  }

  /** After the last output. @param metrics null: the request does not want them */
  build(metrics: RequestMetrics | null): Response {
    const choices = this.#outputs.map(joined);
    const usage = this.usage.usage();
    const more = {
      ...(metrics !== null && { metrics }),
      ...(this.warnings.length > 0 && { warnings: [...this.warnings] }),
    };
    return this.request.endpoint === "chat.completions"
      ? {
          ...this.head,
          object: "chat.completion",
          choices: choices.map((choice, i) => this.#chat(choice, i)),
          usage,
          ...this.#promptLogprobs(choices[0]),
          ...more,
        }
      : {
          ...this.head,
          object: "text_completion",
          choices: choices.map((choice, i) => this.#completion(choice, i)),
          usage,
          ...more,
        };
  }

  #chat(choice: ChoiceOutput, index: number): ChatCompletionChoice {
    const { reasoning, text: content } = choice;
    const finishReason = choice.finishReason ?? "abort";
    const calls = this.calls?.[index];
    const said = calls?.message() ?? { content };
    return {
      index,
      message: { role: "assistant", ...said, ...(reasoning !== "" && { reasoning_content: reasoning }) },
      logprobs: this.request.wantLogprobs ? { content: chatLogprobs(choice, this.names, this.request) } : null,
      ...this.ending(choice),
      ...this.promptIds(index),
      finish_reason: calls?.finishReason(finishReason) ?? finishReason,
    };
  }

  #completion(choice: ChoiceOutput, index: number): CompletionChoice {
    const { request, names } = this;
    const echoed = echoedLogprobs(request, index, choice.promptScores);
    const logprobs = request.wantLogprobs ? completionLogprobs(request, inTurn(echoed, choice), names, 0) : null;
    const whole = { ...choice, text: echoedText(request, index, names) + choice.text };
    return { ...this.completionChoice(index, whole, logprobs, true), ...this.#promptLogprobs(choice) };
  }

  /** Left out unless requested. */
  #promptLogprobs(choice: ChoiceOutput | undefined) {
    const numTop = this.request.promptLogprobs;
    if (choice === undefined || numTop === null) return {};
    return { prompt_logprobs: promptLogprobs(choice.promptScores, numTop, this.names) };
  }
}

function joined(outputs: readonly ChoiceOutput[], choice: number): ChoiceOutput {
  const last = outputs.at(-1);
  if (last === undefined) throw new RangeError(`choice ${choice} has no output`);
  return {
    ...last,
    text: outputs.map(({ text }) => text).join(""),
    reasoning: outputs.map(({ reasoning }) => reasoning).join(""),
    tokenIds: outputs.flatMap(({ tokenIds }) => tokenIds),
    logprobs: outputs.flatMap(({ logprobs }) => logprobs),
    topLogprobs: outputs.flatMap(({ topLogprobs }) => topLogprobs),
    promptScores: outputs.flatMap(({ promptScores }) => promptScores),
  };
}
