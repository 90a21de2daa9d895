import type { ChorusEngine } from "../protocol/engine.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ChatCompletionChunk } from "../protocol/openai.ts";
import { leaveOutOldest, messagesFrom, type Turn } from "./conversation.ts";
import { defaultMaxTokens, requestFields, type Settings } from "./settings.ts";

export interface Question {
  readonly engine: ChorusEngine;
  /** The newest is the one that is asked; where it has text already, that is continued. */
  readonly turns: readonly Turn[];
  /** Turns before this one are not sent. */
  readonly firstSent: number;
  readonly settings: Settings;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

export interface AnswerChunk {
  readonly chunk: ChatCompletionChunk;
  /** Where the part of the conversation that fitted begins. */
  readonly firstSent: number;
}

/**
 * Asks the newest question with as much of the conversation as fits. What is too long for the model is refused at once,
 * so the oldest turns are left out one by one until it is not; the newest question alone may then have all that is left
 * of the context for its answer. Throws context_length_exceeded where even that is too long.
 */
export async function* streamAnswer(question: Question): AsyncGenerator<AnswerChunk, void> {
  const { engine, turns, settings, requestId, signal } = question;
  const isContinued = turns.at(-1)?.answer !== "";
  let { firstSent } = question;
  let maxTokens: number | null = settings.max_tokens ?? defaultMaxTokens(engine.model);

  for (;;) {
    let hasStarted = false;
    try {
      const stream = await engine.chat.completions.create(
        {
          ...requestFields(settings),
          messages: messagesFrom(turns, firstSent, settings.system),
          ...(isContinued && { continue_final_message: true }),
          max_tokens: maxTokens,
          request_id: requestId,
          stream: true,
        },
        { signal },
      );
      for await (const chunk of stream) {
        hasStarted = true;
        yield { chunk, firstSent };
      }
      return;
    } catch (error) {
      const isTooLong = error instanceof ChorusError && error.code === "context_length_exceeded";
      if (!isTooLong || hasStarted) throw error;
      const shorter = leaveOutOldest(turns, firstSent);
      if (shorter !== null) firstSent = shorter;
      else if (maxTokens !== null) maxTokens = null;
      else throw error;
    }
  }
}
