import type { SavedChat } from "../workspace/saved-workspace.ts";
import { foldedWords, hasWords } from "./words.ts";

const BEFORE_LENGTH = 40;
const AFTER_LENGTH = 160;

/** Returns the first passage of a chat with one of the words; null if only its title has them. */
export function findPassage(chat: SavedChat, words: ReadonlySet<string>) {
  const { turns, inactiveTurns = [], draft } = chat;
  const texts = [...turns, ...inactiveTurns].flatMap(({ question, answer }) => [question, answer]);
  for (const text of [...texts, draft]) {
    for (const { 0: word, index } of text.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
      const isRequested = [...words].some((query) => hasWords(foldedWords(word), new Set([query])));
      if (!isRequested) continue;
      const end = index + word.length;
      const start = Math.max(0, index - BEFORE_LENGTH);
      return {
        before: `${start > 0 ? "…" : ""}${text.slice(start, index)}`,
        word,
        after: text.slice(end, end + AFTER_LENGTH),
      };
    }
  }
  return null;
}
