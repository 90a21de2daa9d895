import type { ChatCompletionChunk, FinishReason, Usage } from "../../protocol/openai.ts";
import type { RequestMetrics } from "../../protocol/request-metrics.ts";
import { describeError } from "../errors.ts";
import type { EventWriter } from "../event-stream.ts";
import { outputMessage, outputText, responseObject, statusOf, type ResponseHead } from "./response-object.ts";

/** Turns the chunks of one chat answer into the events of a streamed response. */
export class ResponseEvents implements EventWriter<ChatCompletionChunk> {
  readonly #head: ResponseHead;
  #sequenceNumber = 0;
  #text = "";
  #isOpen = false;
  #finishReason: FinishReason | null = null;
  #usage: Usage | null = null;
  #metrics: RequestMetrics | undefined;

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  write(chunk: ChatCompletionChunk): string {
    const opening = this.#isOpen ? "" : this.#opening();
    this.#isOpen = true;
    this.#usage = chunk.usage ?? this.#usage;
    this.#metrics = chunk.metrics;
    const [choice] = chunk.choices;
    this.#finishReason = choice?.finish_reason ?? this.#finishReason;
    const delta = choice?.delta.content ?? "";
    if (delta === "") return opening;
    this.#text += delta;
    return opening + this.#event("response.output_text.delta", { ...this.#part(), delta, logprobs: [] });
  }

  end(): string {
    const finishReason = this.#finishReason ?? "stop";
    const state = { text: this.#text, finishReason, usage: this.#usage, metrics: this.#metrics };
    const status = statusOf(state.finishReason);
    return [
      this.#event("response.output_text.done", { ...this.#part(), text: this.#text, logprobs: [] }),
      this.#event("response.content_part.done", { ...this.#part(), part: outputText(this.#text) }),
      this.#event("response.output_item.done", { output_index: 0, item: outputMessage(this.#head, state) }),
      this.#event(`response.${status}`, { response: responseObject(this.#head, state) }),
    ].join("");
  }

  fail(error: unknown): string {
    const { message, code, param } = describeError(error).body.error;
    return this.#event("error", { message, code, param });
  }

  #opening(): string {
    const response = responseObject(this.#head, null);
    const item = outputMessage(this.#head, { text: "", finishReason: null, usage: null });
    return [
      this.#event("response.created", { response }),
      this.#event("response.in_progress", { response }),
      this.#event("response.output_item.added", { output_index: 0, item }),
      this.#event("response.content_part.added", { ...this.#part(), part: outputText("") }),
    ].join("");
  }

  /** The one part of the one message. */
  #part() {
    return { item_id: this.#head.messageId, output_index: 0, content_index: 0 };
  }

  #event(type: string, data: object): string {
    const numbered = { type, sequence_number: this.#sequenceNumber++, ...data };
    return `event: ${type}\ndata: ${JSON.stringify(numbered)}\n\n`;
  }
}
