import type { ChatRecord } from "../workspace/chat-record.ts";
import { titleOfChat, type SavedChat } from "../workspace/saved-workspace.ts";
import { oneLine } from "../one-line.ts";
import { foldedWords } from "./words.ts";

export type ChatSummary = Readonly<ReturnType<typeof summaryOf>>;

const TITLE_LENGTH = 120;
const PREVIEW_LENGTH = 200;

export function summaryOf(record: ChatRecord) {
  const { turns, title, draft, askedMs = record.savedMs } = record.chat;
  let words: string | undefined;
  const named = turns.length > 0 || title !== null ? titleOfChat(record.chat) : draft;
  return {
    record,
    title: oneLine(named, TITLE_LENGTH),
    /** The beginning of its last answer. */
    preview: oneLine(turns.at(-1)?.answer ?? draft, PREVIEW_LENGTH),
    /** When its last question was asked, or else when it was saved. Milliseconds since 1970. */
    dateMs: askedMs,
    numTurns: turns.length,
    /** Returns its words for searches, as `foldedWords` has them. */
    words: () => (words ??= foldedWords(textsOf(record.chat).join("\n"))),
  };
}

function textsOf({ title, turns, inactiveTurns = [], draft }: SavedChat): readonly string[] {
  const texts = [...turns, ...inactiveTurns].flatMap(({ question, answer, alternatives }) => [
    question,
    answer,
    ...(alternatives?.answers.map((other) => other.answer) ?? []),
  ]);
  return [title ?? "", ...texts, draft];
}
