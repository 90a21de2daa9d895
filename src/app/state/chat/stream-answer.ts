import type { Answerer } from "../../remote/answerer.ts";
import {
  ChorusError,
  type AnswerWarning,
  type ChatTool,
  type FinishReason,
  type RequestMetrics,
  type ToolCallDelta,
} from "../../../index.ts";
import { completionTokens, tokenReader, type AnswerToken } from "./answer-tokens.ts";
import { contextCut, tokensOf } from "./context-cut.ts";
import { leaveOutOldest, leaveOutQuarter, messagesFrom, type Turn } from "./conversation.ts";
import {
  continuesText,
  requestFields,
  reservedTokens,
  toolFields,
  type RequestFields,
} from "../settings/question-settings.ts";
import { roundMessages } from "./tool-rounds.ts";
import type { Settings } from "../settings/settings.ts";
import { logitBias } from "./logit-bias.ts";

interface Question {
  readonly answerer: Answerer;
  /** The turns. The newest one is asked; if it already has text, that text is continued. */
  readonly turns: readonly Turn[];
  /** The tokens of that text, if they are known: it is then continued exactly. */
  readonly started: readonly number[] | null;
  readonly contextStart: number;
  readonly settings: Settings;
  /** What the model may call. */
  readonly tools: readonly ChatTool[];
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export interface AnswerPart {
  /** Index of the answer, if several were requested. */
  readonly index: number;
  readonly text: string;
  readonly reasoning: string;
  readonly finishReason: FinishReason | null;
  /** [none] */
  readonly calls?: readonly ToolCallDelta[];
  /** What of the tools' schemas does not hold. [nothing] */
  readonly warnings?: readonly AnswerWarning[];
  /** Null if the answerer doesn't report them. */
  readonly tokens: readonly AnswerToken[] | null;
  /** With the last part, if the answerer has them. */
  readonly metrics: RequestMetrics | null;
}

/**
 * Asks the newest question with as much of the conversation as fits beside the tokens reserved for its answer. If the answerer
 * refuses a prompt as too long, the conversation is cut by its tokens, or by a quarter of its text each time if the answerer
 * doesn't count tokens. An answer beyond its reserve ends with the context, as does one to the newest question alone. Throws
 * context_length_exceeded if even that question is too long.
 */
export async function* streamAnswer(question: Question): AsyncGenerator<AnswerPart & { contextStart: number }, void> {
  const { answerer, turns, settings } = question;
  const isText = continuesText(settings, answerer.model);
  const start = isText ? turns.length - 1 : question.contextStart;
  let contextStart = start;
  const reserved = reservedTokens(settings, answerer.model);
  let maxTokens: number | null = settings.max_tokens ?? reserved;
  // Questions of several panes are sent at once if nothing must be looked up first.
  const bias = settings.logit_bias ? await logitBias(settings.logit_bias, answerer) : null;
  const numRounds = turns.at(-1)?.rounds?.length ?? 0;
  const own = { ...requestFields(settings), ...toolFields(question.tools, settings, numRounds) };
  // The tokens of each answer cost nothing where the engine shows them. A beam search can't.
  const showsTokens = answerer.tokenize !== undefined && !own.use_beam_search;
  const fields = { ...own, ...(showsTokens && { logprobs: true as const }), ...(bias && { logit_bias: bias }) };

  for (;;) {
    let hasStarted = false;
    try {
      const parts = isText
        ? continued(question, fields, maxTokens)
        : answered(question, fields, contextStart, maxTokens);
      for await (const part of parts) {
        hasStarted = true;
        yield { ...part, contextStart };
      }
      return;
    } catch (error) {
      const isTooLong = error instanceof ChorusError && error.code === "context_length_exceeded";
      if (!isTooLong || hasStarted) throw error;
      const shorter = leaveOutOldest(turns, contextStart);
      const fitting = shorter === null ? contextStart : await firstThatFits(question, contextStart, reserved);
      if (fitting !== null && fitting > contextStart) contextStart = fitting;
      else if (maxTokens !== null && reserved !== null && maxTokens > reserved) {
        // The prompt fits beside the reserve, but not beside all requested tokens. So the answer gets fewer.
        maxTokens = fitting === null ? reserved : null;
      } else if (shorter !== null) {
        contextStart = fitting === null ? Math.max(shorter, leaveOutQuarter(turns, contextStart)) : shorter;
      } else if (maxTokens !== null) {
        maxTokens = null;
        // If the context is unknown, the requested length alone may have been too much, and turns were left out for nothing.
        if (reserved === null) contextStart = start;
      } else throw error;
    }
  }
}

/** Returns the first turn with which the prompt fits beside the answer's reserve; null if that can't be counted. */
async function firstThatFits(
  { answerer, turns, settings, tools }: Question,
  contextStart: number,
  reserved: number | null,
): Promise<number | null> {
  const { contextLength } = answerer.model;
  const tokenize = answerer.tokenize?.bind(answerer);
  const { question = "", answer = "", rounds = [] } = turns.at(-1) ?? {};
  if (tokenize === undefined || contextLength === null || reserved === null) return null;
  const cut = contextCut(turns.slice(0, -1), settings.system ?? "", tokenize, tools);
  const called = rounds.length > 0 ? JSON.stringify(roundMessages({ rounds })) : "";
  const questionTokens = await tokensOf(question + called + answer, tokenize);
  return cut.firstThatFits(contextStart, questionTokens, contextLength - reserved);
}

/** Sends the turns from `contextStart` on as a chat. */
async function* answered(
  { answerer, turns, started, settings, requestId, signal }: Question,
  fields: RequestFields,
  contextStart: number,
  maxTokens: number | null,
): AsyncGenerator<AnswerPart, void> {
  const stream = await answerer.chat.completions.create(
    {
      ...fields,
      messages: messagesFrom(turns, contextStart, settings.system),
      ...(turns.at(-1)?.answer !== "" && { continue_final_message: true }),
      ...(started && { final_message_token_ids: [...started] }),
      ...(answerer.tokenize && { return_tokens_as_token_ids: true }),
      max_tokens: maxTokens,
      request_id: requestId,
      include_metrics: true,
      stream: true,
    },
    { signal },
  );
  const read = tokenReader();
  for await (const { choices, metrics = null, warnings } of stream) {
    for (const { index, delta, logprobs, finish_reason: ended } of choices) {
      const finishReason = ended === "tool_calls" || ended === "function_call" ? "stop" : ended;
      const { content, reasoning_content: reasoning = "", tool_calls: calls = [] } = delta;
      const text = content ?? "";
      // Only the first of several answers keeps its tokens.
      const tokens = logprobs && index === 0 ? read(logprobs.content) : null;
      yield { index, text, reasoning, finishReason, calls, ...(warnings && { warnings }), tokens, metrics };
    }
  }
}

/** Sends the newest turn alone, unchanged, as plain text. */
async function* continued(
  { answerer, turns, requestId, signal }: Question,
  given: RequestFields,
  maxTokens: number | null,
): AsyncGenerator<AnswerPart, void> {
  const { question = "", answer = "" } = turns.at(-1) ?? {};
  // Here logprobs is the number of the likeliest tokens.
  const { logprobs, top_logprobs: numLikeliest = 0, ...fields } = given;
  const stream = await answerer.completions.create(
    {
      ...fields,
      ...(logprobs && { logprobs: numLikeliest }),
      prompt: question + answer,
      max_tokens: maxTokens,
      request_id: requestId,
      include_metrics: true,
      stream: true,
    },
    { signal },
  );
  for await (const { choices, metrics = null } of stream) {
    for (const { index, text, logprobs: chunkLogprobs, finish_reason: finishReason } of choices) {
      const tokens = chunkLogprobs && index === 0 ? completionTokens(chunkLogprobs) : null;
      yield { index, text, reasoning: "", finishReason, tokens, metrics };
    }
  }
}
