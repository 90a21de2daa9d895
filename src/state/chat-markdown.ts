import { titleOfChat, type SavedChat } from "./saved-workspace.ts";

/** One conversation for people to read: its title, each question as a heading, its answer below. */
export function chatMarkdown(chat: SavedChat): string {
  const turns = chat.turns.map(({ question, answer }) => `## ${oneLine(question)}\n\n${answer.trim()}\n`);
  return [`# ${oneLine(titleOfChat(chat))}\n`, ...turns].join("\n");
}

/** A heading ends with its line. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, " ");
}
