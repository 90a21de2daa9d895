import type { ChorusEngine } from "../protocol/engine.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ChatCompletionChunk, GenerationFields } from "../protocol/openai.ts";
import { leaveOutOldest, messagesFrom, type Turn } from "./conversation.ts";

/** Sampling fields that every question of the page is sent with; the rest are the model's own. */
export type Sampling = Pick<GenerationFields, "temperature" | "top_p" | "top_k" | "seed"> & { max_tokens?: number };

export interface Question {
  readonly engine: ChorusEngine;
  readonly turns: readonly Turn[];
  /** Turns before this one are not sent. */
  readonly firstSent: number;
  readonly sampling: Sampling;
  readonly signal: AbortSignal;
}

export interface AnswerChunk {
  readonly chunk: ChatCompletionChunk;
  /** Where the part of the conversation that fitted begins. */
  readonly firstSent: number;
}

// Long enough for a chat's answer, and at most half of the context, so that there is room for what went before.
const LONGEST_ANSWER_TOKENS = 256;

/**
 * Asks the newest question with as much of the conversation as fits. What is too long for the model is refused at once,
 * so the oldest turns are left out one by one until it is not; the newest question alone may then have all that is left
 * of the context for its answer. Throws context_length_exceeded where even that is too long.
 */
export async function* streamAnswer(question: Question): AsyncGenerator<AnswerChunk, void> {
  const { engine, turns, sampling, signal } = question;
  let { firstSent } = question;
  let maxTokens: number | null =
    sampling.max_tokens ?? Math.min(LONGEST_ANSWER_TOKENS, Math.floor(engine.model.contextLength / 2));

  for (;;) {
    let hasStarted = false;
    try {
      const stream = await engine.chat.completions.create(
        { ...sampling, messages: messagesFrom(turns, firstSent), max_tokens: maxTokens, stream: true },
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
