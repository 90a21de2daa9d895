import type { AnswerWarning, ChatCompletionChunk, ChatFinishReason, Usage } from "../../protocol/openai.ts";
import type { ToolCallDelta } from "../../protocol/openai-tools.ts";
import type { RequestMetrics } from "../../protocol/request-metrics.ts";
import type { ResponseAnswer, ResponseEvent } from "../../protocol/openai-responses.ts";
import { describeError } from "../errors.ts";
import type { EventWriter } from "../event-stream.ts";
import {
  itemId,
  outputItem,
  outputText,
  reasoningText,
  responseObject,
  statusOf,
  type ResponseHead,
  type ResponsePart,
} from "./response-object.ts";
import { renamedWarnings } from "./response-request.ts";

/** The events of items that have one part. */
const TEXTS = {
  reasoning: { part: reasoningText, event: "response.reasoning_text", more: {} },
  message: { part: outputText, event: "response.output_text", more: { logprobs: [] } },
} as const;

/** A chunk of a chat answer, or all of it. */
interface AnswerPiece extends Pick<ChatCompletionChunk, "usage" | "metrics" | "warnings"> {
  readonly choices: readonly {
    readonly delta: {
      readonly content?: string | null;
      readonly reasoning_content?: string;
      readonly tool_calls?: readonly Omit<ToolCallDelta, "index">[];
    };
    readonly finish_reason: ChatFinishReason | null;
  }[];
}

/** Turns the chunks of one chat answer into the events of a streamed response. */
export class ResponseEvents {
  readonly #head: ResponseHead;
  #sequenceNumber = 0;
  /** The items so far. The last one is still open. */
  readonly #parts: ResponsePart[] = [];
  #finishReason: ChatFinishReason | null = null;
  #usage: Usage | null = null;
  #metrics: RequestMetrics | undefined;
  #warnings: readonly AnswerWarning[] | undefined;

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  readonly of = (chunk: AnswerPiece): ResponseEvent[] => {
    const opening = this.#sequenceNumber === 0 ? this.#opening() : [];
    this.#usage = chunk.usage ?? this.#usage;
    this.#metrics = chunk.metrics;
    this.#warnings = renamedWarnings(chunk.warnings) ?? this.#warnings;
    const [choice] = chunk.choices;
    this.#finishReason = choice?.finish_reason ?? this.#finishReason;
    const { content, reasoning_content: reasoning = "", tool_calls: calls = [] } = choice?.delta ?? {};
    const added = [...this.#addText("reasoning", reasoning), ...this.#addText("message", content ?? "")];
    return [...opening, ...added, ...calls.flatMap((call) => this.#addCall(call))];
  };

  readonly end = (): ResponseEvent[] => {
    const finishReason = this.#finishReason ?? "stop";
    const status = statusOf(finishReason);
    const isBare = this.#parts.every(({ type }) => type === "reasoning");
    // An answer without a word has an empty message, also after a thought, unless that was cut off.
    const hasEmpty = isBare && (this.#parts.length === 0 || status === "completed");
    const begun = hasEmpty ? this.#begin({ type: "message", text: "" }) : [];
    const response = this.response();
    return [...begun, ...this.#close(finishReason), this.#event(`response.${status}`, { response })];
  };

  /** Returns the whole response, after the end. */
  response(): ResponseAnswer {
    const [usage, metrics, warnings] = [this.#usage, this.#metrics, this.#warnings];
    const finishReason = this.#finishReason ?? "stop";
    return responseObject(this.#head, { parts: this.#parts, finishReason, usage, metrics, warnings });
  }

  #opening(): ResponseEvent[] {
    const response = responseObject(this.#head, null);
    return ["response.created", "response.in_progress"].map((type) => this.#event(type, { response }));
  }

  #addText(type: "reasoning" | "message", delta: string): ResponseEvent[] {
    if (delta === "") return [];
    const started = this.#parts.at(-1)?.type === type ? [] : this.#begin({ type, text: "" });
    const part = this.#parts.at(-1);
    if (part?.type === type) this.#parts.splice(-1, 1, { type, text: part.text + delta });
    const { event, more } = TEXTS[type];
    return [...started, this.#event(`${event}.delta`, { ...this.#place(), content_index: 0, delta, ...more })];
  }

  #addCall({ id, function: { name, arguments: delta } }: Omit<ToolCallDelta, "index">): ResponseEvent[] {
    const call = { id: id ?? "", type: "function", function: { name: name ?? "", arguments: "" } } as const;
    const started = id === undefined ? [] : this.#begin({ type: "function_call", call });
    const part = this.#parts.at(-1);
    if (part?.type !== "function_call" || delta === "") return started;
    part.call.function.arguments += delta;
    return [...started, this.#event("response.function_call_arguments.delta", { ...this.#place(), delta })];
  }

  /** Begins an item and closes the one before: a thought is complete when its answer begins. */
  #begin(part: ResponsePart): ResponseEvent[] {
    const closed = this.#close("stop");
    this.#parts.push(part);
    const index = this.#parts.length - 1;
    const item = outputItem(this.#head, part, index, null);
    const added = [...closed, this.#event("response.output_item.added", { output_index: index, item })];
    if (part.type === "function_call") return added;
    const content = { ...this.#place(), content_index: 0, part: TEXTS[part.type].part("") };
    return [...added, this.#event("response.content_part.added", content)];
  }

  #close(finishReason: ChatFinishReason): ResponseEvent[] {
    const part = this.#parts.at(-1);
    if (part === undefined) return [];
    const index = this.#parts.length - 1;
    const item = outputItem(this.#head, part, index, finishReason);
    const done = this.#event.bind(this, "response.output_item.done", { output_index: index, item });
    if (part.type === "function_call") {
      const { name, arguments: whole } = part.call.function;
      const given = { ...this.#place(), name, arguments: whole };
      return [this.#event("response.function_call_arguments.done", given), done()];
    }
    const { part: write, event, more } = TEXTS[part.type];
    const place = { ...this.#place(), content_index: 0 };
    return [
      this.#event(`${event}.done`, { ...place, text: part.text, ...more }),
      this.#event("response.content_part.done", { ...place, part: write(part.text) }),
      done(),
    ];
  }

  #place() {
    const index = this.#parts.length - 1;
    const part = this.#parts.at(-1);
    return { item_id: part ? itemId(this.#head, part, index) : "", output_index: index };
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
