// An answer in the shape of /v1/responses.

import type { FinishReason, Usage } from "../../protocol/openai.ts";
import type { ResponseAnswer, ResponseItem, ResponseStatus } from "../../protocol/openai-responses.ts";
import type { RequestMetrics } from "../../protocol/request-metrics.ts";
import type { ResponseRequest } from "./response-request.ts";

/** The fields that are the same in all states of one response. */
export interface ResponseHead {
  readonly id: string;
  readonly messageId: string;
  readonly reasoningId: string;
  readonly createdAt: number;
  readonly model: string;
  readonly request: ResponseRequest;
}

/** The state of a response. */
export interface ResponseState {
  readonly text: string;
  /** The thought before it; "" without one. */
  readonly reasoning: string;
  /** null while it goes on. */
  readonly finishReason: FinishReason | null;
  readonly usage: Usage | null;
  /** Absent if not requested, or not known yet. */
  readonly metrics?: RequestMetrics | undefined;
}

/** Returns a response in this state; null while it has just begun. */
export function responseObject(head: ResponseHead, state: ResponseState | null): ResponseAnswer {
  const { request } = head;
  const { chat } = request;
  return {
    id: head.id,
    object: "response",
    created_at: head.createdAt,
    status: state === null ? "in_progress" : statusOf(state.finishReason),
    error: null,
    incomplete_details: state?.finishReason === "length" ? { reason: "max_output_tokens" } : null,
    instructions: request.instructions,
    max_output_tokens: request.maxOutputTokens,
    metadata: request.metadata,
    model: head.model,
    output: state === null ? [] : outputItems(head, state),
    output_text: state?.text ?? "",
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: chat.temperature ?? null,
    text: { format: request.format },
    tool_choice: "auto",
    tools: [],
    top_p: chat.top_p ?? null,
    truncation: "disabled",
    usage: state?.usage ? responseUsage(state.usage) : null,
    user: chat.user ?? null,
    ...(state?.metrics && { metrics: state.metrics }),
  };
}

/** Returns the output's items. A thought that was cut off has no message after it. */
export function outputItems(head: ResponseHead, state: ResponseState): ResponseItem[] {
  const hasMessage = state.text !== "" || state.reasoning === "" || statusOf(state.finishReason) === "completed";
  return [
    ...(state.reasoning === "" ? [] : [outputReasoning(head, state)]),
    ...(hasMessage ? [outputMessage(head, state)] : []),
  ];
}

/** Returns a thought's item, in the shape of OpenAI's open models. */
export function outputReasoning(head: ResponseHead, state: ResponseState): ResponseItem {
  return {
    id: head.reasoningId,
    type: "reasoning",
    status: state.text === "" ? statusOf(state.finishReason) : "completed",
    summary: [],
    content: state.finishReason === null ? [] : [reasoningText(state.reasoning)],
  };
}

export function reasoningText(text: string) {
  return { type: "reasoning_text" as const, text };
}

export function outputMessage(head: ResponseHead, state: ResponseState): ResponseItem {
  return {
    id: head.messageId,
    type: "message",
    role: "assistant",
    status: statusOf(state.finishReason),
    content: state.finishReason === null ? [] : [outputText(state.text)],
  };
}

export function outputText(text: string) {
  return { type: "output_text" as const, text, annotations: [], logprobs: [] };
}

/** Returns a response's status. "abort": the engine ended it at its deadline. */
export function statusOf(finishReason: FinishReason | null): ResponseStatus {
  if (finishReason === null) return "in_progress";
  return finishReason === "stop" ? "completed" : "incomplete";
}

function responseUsage(usage: Usage) {
  return {
    input_tokens: usage.prompt_tokens,
    input_tokens_details: { cached_tokens: usage.prompt_tokens_details.cached_tokens },
    output_tokens: usage.completion_tokens,
    output_tokens_details: { reasoning_tokens: usage.completion_tokens_details?.reasoning_tokens ?? 0 },
    total_tokens: usage.total_tokens,
  };
}
