import { summaryOf } from "../history/chat-summary.ts";
import { findPassage } from "../history/passage.ts";
import { hasWords, wordsOf } from "../history/words.ts";
import { inParts } from "../in-parts.ts";
import type { SavedChat } from "../workspace/saved-workspace.ts";

const MAX_FOUND = 5;

/** Returns passages of the newest chats that have all the words, as text for a model. @param besides the chat that asks */
export async function searchChats(all: readonly SavedChat[], text: string, besides: string): Promise<string> {
  const words = wordsOf(text);
  const chats = all.filter(({ id }) => id !== besides);
  const summaries = await inParts(chats, (chat) => {
    const summary = summaryOf({ chat: { id: "", ...chat }, revision: "", past: [], savedMs: 0 });
    return words.size > 0 && hasWords(summary.words(), words) ? summary : null;
  });
  const found = summaries.filter((summary) => summary !== null).toSorted((a, b) => b.dateMs - a.dateMs);
  const lines = found.slice(0, MAX_FOUND).map(({ title, dateMs, record }) => {
    const { before, word, after } = findPassage(record.chat, words) ?? { before: "", word: "", after: "" };
    return `${new Date(dateMs).toISOString().slice(0, 10)} ${JSON.stringify(title)}: ${before}${word}${after}`;
  });
  return [`${found.length} chats found.`, ...lines].join("\n");
}
