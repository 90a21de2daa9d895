// An answer in the shape of /v1/responses.

import type { AnswerWarning, ChatFinishReason, Usage } from "../../protocol/openai.ts";
import type { ToolCall } from "../../protocol/openai-tools.ts";
import type { ResponseAnswer, ResponseItem, ResponseStatus } from "../../protocol/openai-responses.ts";
import type { RequestMetrics } from "../../protocol/request-metrics.ts";
import type { ResponseRequest } from "./response-request.ts";

/** The fields that are the same in all states of one response. */
export interface ResponseHead {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
  readonly request: ResponseRequest;
}

/** What an answer is made of, in its order. */
export type ResponsePart =
  | { readonly type: "reasoning" | "message"; readonly text: string }
  | { readonly type: "function_call"; readonly call: ToolCall };

interface ResponseState {
  readonly parts: readonly ResponsePart[];
  /** null while it goes on. */
  readonly finishReason: ChatFinishReason | null;
  readonly usage: Usage | null;
  /** Absent if not requested, or not known yet. */
  readonly metrics?: RequestMetrics | undefined;
  /** Absent if there are none. */
  readonly warnings?: readonly AnswerWarning[] | undefined;
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
    output: (state?.parts ?? []).map((part, i, all) =>
      outputItem(head, part, i, i === all.length - 1 ? (state?.finishReason ?? null) : "stop"),
    ),
    output_text: (state?.parts ?? []).map((part) => (part.type === "message" ? part.text : "")).join(""),
    parallel_tool_calls: chat.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: chat.temperature ?? null,
    text: { format: request.format },
    tool_choice: request.toolChoice ?? "auto",
    tools: request.tools ?? [],
    top_p: chat.top_p ?? null,
    truncation: "disabled",
    usage: state?.usage ? responseUsage(state.usage) : null,
    user: chat.user ?? null,
    ...(state?.metrics && { metrics: state.metrics }),
    ...(state?.warnings && { warnings: [...state.warnings] }),
  };
}

/** Returns a part as an item of the output. @param index of the item */
export function outputItem(
  head: ResponseHead,
  part: ResponsePart,
  index: number,
  finishReason: ChatFinishReason | null,
): ResponseItem {
  const status = statusOf(finishReason);
  const id = itemId(head, part, index);
  if (part.type === "function_call") {
    const { id: callId, function: called } = part.call;
    return { id, type: part.type, status, call_id: callId, ...called };
  }
  const isEmpty = finishReason === null;
  // A thought's item has the shape of OpenAI's open models.
  return part.type === "reasoning"
    ? { id, type: part.type, status, summary: [], content: isEmpty ? [] : [reasoningText(part.text)] }
    : { id, type: part.type, role: "assistant", status, content: isEmpty ? [] : [outputText(part.text)] };
}

export function itemId({ id }: ResponseHead, { type }: ResponsePart, index: number): string {
  const own = id.replace(/^resp_/, "");
  return type === "reasoning" ? `rs_${own}` : type === "message" ? `msg_${own}` : `fc_${own}_${index}`;
}

export function reasoningText(text: string) {
  return { type: "reasoning_text" as const, text };
}

export function outputText(text: string) {
  return { type: "output_text" as const, text, annotations: [], logprobs: [] };
}

/** Returns a response's status. "abort": the engine ended it at its deadline. */
export function statusOf(finishReason: ChatFinishReason | null): ResponseStatus {
  if (finishReason === null) return "in_progress";
  return finishReason === "length" || finishReason === "abort" ? "incomplete" : "completed";
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
