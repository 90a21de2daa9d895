import type { ChatCompletionChunk, FinishReason, Usage } from "../../protocol/openai.ts";
import type { RequestMetrics } from "../../protocol/request-metrics.ts";
import type { ResponseEvent } from "../../protocol/openai-responses.ts";
import { describeError } from "../errors.ts";
import type { EventWriter } from "../event-stream.ts";
import {
  outputItems,
  outputMessage,
  outputReasoning,
  outputText,
  reasoningText,
  responseObject,
  statusOf,
  type ResponseHead,
  type ResponseState,
} from "./response-object.ts";

/** The events of each kind of item, with its one part. */
const KINDS = {
  reasoning: { item: outputReasoning, part: reasoningText, event: "response.reasoning_text", more: {} },
  text: { item: outputMessage, part: outputText, event: "response.output_text", more: { logprobs: [] } },
} as const;
type Kind = keyof typeof KINDS;

/** Turns the chunks of one chat answer into the events of a streamed response. */
export class ResponseEvents {
  readonly #head: ResponseHead;
  #sequenceNumber = 0;
  readonly #texts: Record<Kind, string> = { reasoning: "", text: "" };
  /** The items so far. The last one is still open. */
  readonly #items: Kind[] = [];
  #finishReason: FinishReason | null = null;
  #usage: Usage | null = null;
  #metrics: RequestMetrics | undefined;

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  /** Returns the events of a chunk. */
  readonly of = (chunk: ChatCompletionChunk): ResponseEvent[] => {
    const opening = this.#sequenceNumber === 0 ? this.#opening() : [];
    this.#usage = chunk.usage ?? this.#usage;
    this.#metrics = chunk.metrics;
    const [choice] = chunk.choices;
    this.#finishReason = choice?.finish_reason ?? this.#finishReason;
    const { content = "", reasoning_content: reasoning = "" } = choice?.delta ?? {};
    return [...opening, ...this.#add("reasoning", reasoning), ...this.#add("text", content)];
  };

  /** Returns the events after the last chunk. */
  readonly end = (): ResponseEvent[] => {
    const state = this.#state(this.#finishReason ?? "stop");
    const hasMessage = outputItems(this.#head, state).length > this.#items.length;
    return [
      ...(hasMessage ? this.#begin("text") : []),
      ...this.#close(state),
      this.#event(`response.${statusOf(state.finishReason)}`, { response: responseObject(this.#head, state) }),
    ];
  };

  #opening(): ResponseEvent[] {
    const response = responseObject(this.#head, null);
    return ["response.created", "response.in_progress"].map((type) => this.#event(type, { response }));
  }

  #add(kind: Kind, delta: string): ResponseEvent[] {
    if (delta === "") return [];
    const started = this.#items.includes(kind) ? [] : this.#begin(kind);
    this.#texts[kind] += delta;
    const { event, more } = KINDS[kind];
    return [...started, this.#event(`${event}.delta`, { ...this.#part(kind), delta, ...more })];
  }

  /** Begins an item and closes the one before: a thought is complete when its answer begins. */
  #begin(kind: Kind): ResponseEvent[] {
    const closed = this.#close(this.#state("stop"));
    this.#items.push(kind);
    const { item, part } = KINDS[kind];
    const added = { output_index: this.#items.length - 1, item: item(this.#head, this.#state(null)) };
    return [
      ...closed,
      this.#event("response.output_item.added", added),
      this.#event("response.content_part.added", { ...this.#part(kind), part: part("") }),
    ];
  }

  #close(state: ResponseState): ResponseEvent[] {
    const kind = this.#items.at(-1);
    if (kind === undefined) return [];
    const { item, part, event, more } = KINDS[kind];
    const text = this.#texts[kind];
    return [
      this.#event(`${event}.done`, { ...this.#part(kind), text, ...more }),
      this.#event("response.content_part.done", { ...this.#part(kind), part: part(text) }),
      this.#event("response.output_item.done", { output_index: this.#items.length - 1, item: item(this.#head, state) }),
    ];
  }

  #state(finishReason: FinishReason | null): ResponseState {
    return { ...this.#texts, finishReason, usage: this.#usage, metrics: this.#metrics };
  }

  /** Returns the one part of an item. */
  #part(kind: Kind) {
    const id = kind === "text" ? this.#head.messageId : this.#head.reasoningId;
    return { item_id: id, output_index: this.#items.indexOf(kind), content_index: 0 };
  }

  #event(type: string, data: object): ResponseEvent {
    return { type, sequence_number: this.#sequenceNumber++, ...data };
  }
}

/** Writes events as OpenAI's server does, with their names. */
export function responseWriter(): EventWriter<ResponseEvent> {
  let numWritten = 0;
  const write = (event: ResponseEvent) => {
    numWritten = event.sequence_number + 1;
    return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  };
  return {
    write,
    end: () => "",
    fail(error) {
      const { message, code, param } = describeError(error).body.error;
      return write({ type: "error", sequence_number: numWritten, message, code, param });
    },
  };
}
