// What one pane shows, and which part of it the model is sent.

import type { ChatMessage, FinishReason } from "../../protocol/openai.ts";

/** How an answer ended: end of text, the length limit, the person, or the engine's death. */
export const TURN_ENDS = ["stop", "length", "stopped", "interrupted"] as const;
export type TurnEnd = (typeof TURN_ENDS)[number];

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

/** Whether the model had more to say: its answer can be continued. */
export function isUnfinished({ answer, end }: Turn): boolean {
  return answer !== "" && end !== null && end !== "stop";
}

/**
 * The messages of the turns from `firstSent` on. A turn that was stopped before its first word is left out. Where the
 * newest turn has text already, the last message is that text, to be continued.
 */
export function messagesFrom(turns: readonly Turn[], firstSent: number, system = ""): ChatMessage[] {
  const messages: ChatMessage[] = system.trim() === "" ? [] : [{ role: "system", content: system }];
  turns.forEach(({ question, answer }, index) => {
    if (index < firstSent || (answer === "" && index < turns.length - 1)) return;
    messages.push({ role: "user", content: question });
    if (answer !== "") messages.push({ role: "assistant", content: answer });
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
