// What one pane shows, and which part of it the model is sent.

import type { ChatMessage, FinishReason } from "../protocol/openai.ts";

/** How an answer ended: end of text, the length limit, the person, or the engine's death. */
export type TurnEnd = "stop" | "length" | "stopped" | "interrupted";

/** A question and its answer. The last one grows while it streams; null: not ended yet. */
export interface Turn {
  readonly id: number;
  readonly question: string;
  readonly answer: string;
  readonly end: TurnEnd | null;
}

export function turnEndFrom(reason: FinishReason): TurnEnd {
  return reason === "abort" ? "stopped" : reason;
}

/** The messages of the turns from `firstSent` on. A turn that was stopped before its first word is left out. */
export function messagesFrom(turns: readonly Turn[], firstSent: number): ChatMessage[] {
  const messages: ChatMessage[] = [];
  turns.forEach((turn, index) => {
    const isNewest = index === turns.length - 1;
    if (index < firstSent || (turn.answer === "" && !isNewest)) return;
    messages.push({ role: "user", content: turn.question });
    if (!isNewest) messages.push({ role: "assistant", content: turn.answer });
  });
  return messages;
}

/** `firstSent` with one answered turn less to send; null when only the newest question is left. */
export function leaveOutOldest(turns: readonly Turn[], firstSent: number): number | null {
  for (let index = firstSent; index < turns.length - 1; index++) {
    if (turns[index]?.answer !== "") return index + 1;
  }
  return null;
}
