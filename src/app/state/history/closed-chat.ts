// A chat that is in no pane, as it is stored: the chat, its summary for lists, and the words for searches.

import { textOfChat, titleOfChat, type SavedChat } from "../workspace/saved-workspace.ts";
import { wordsOf } from "./words.ts";

export interface ClosedChat {
  /** Identifies this text of the chat. Two tabs may close a chat with different texts, and none replaces the other. */
  readonly key: string;
  readonly chat: SavedChat;
  /** Milliseconds since 1970. */
  readonly closedMs: number;
}

/** A chat's summary in lists. */
export interface ChatSummary {
  readonly key: string;
  readonly title: string;
  /** The beginning of its last answer. */
  readonly preview: string;
  /** When its last question was asked, or else when it was closed. Milliseconds since 1970. */
  readonly dateMs: number;
  /** Number of turns on the chosen path. */
  readonly numTurns: number;
}

const TITLE_LENGTH = 120;
const PREVIEW_LENGTH = 200;

export function closedChat(chat: SavedChat & { readonly id: string }, closedMs: number): ClosedChat {
  return { key: `${chat.id}-${hash(textOfChat(chat))}`, chat, closedMs };
}

export function summaryOf({ key, chat, closedMs }: ClosedChat): ChatSummary {
  const { turns, title, draft, askedMs = closedMs } = chat;
  const named = turns.length > 0 || title !== null ? titleOfChat(chat) : draft;
  return {
    key,
    title: oneLine(named, TITLE_LENGTH),
    preview: oneLine(turns.at(-1)?.answer ?? draft, PREVIEW_LENGTH),
    dateMs: askedMs,
    numTurns: turns.length,
  };
}

export function wordsOfChat({ title, turns, unchosen = [], draft }: SavedChat): ReadonlySet<string> {
  const texts = [...turns, ...unchosen].flatMap(({ question, answer, several }) => [
    question,
    answer,
    ...(several?.answers.map((other) => other.answer) ?? []),
  ]);
  return wordsOf([title ?? "", ...texts, draft].join("\n"));
}

export function oneLine(text: string, length: number): string {
  return text
    .slice(0, 2 * length)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, length);
}

/** FNV-1a of 32 bits. */
function hash(text: string): string {
  let bits = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) bits = Math.imul(bits ^ text.charCodeAt(index), 0x01000193);
  return (bits >>> 0).toString(36);
}
