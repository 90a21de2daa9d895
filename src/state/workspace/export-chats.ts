// Exports chats to a file and imports them.

import { ChorusError } from "../../protocol/errors.ts";
import { parseSavedWorkspace, resumed, titleOfChat, type SavedChat } from "./saved-workspace.ts";
import type { Workspace } from "./workspace.ts";

export function exportChats(workspace: Workspace): string {
  return `${JSON.stringify(workspace.toSaved(), null, 2)}\n`;
}

/** Largest file of chats that is read. (A book has about a megabyte.) */
const MAX_IMPORT_BYTES = 32 * 2 ** 20;

/** Reads a file of chats. @throws ChorusError for one that no chats could fill */
export async function readImport(file: Blob): Promise<string> {
  if (file.size <= MAX_IMPORT_BYTES) return file.text();
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`;
  const message = `The file has ${megabytes(file.size)}; at most ${megabytes(MAX_IMPORT_BYTES)} of chats can be opened.`;
  throw new ChorusError("invalid_value", message, "file");
}

/**
 * Opens the chats of an export beside the open ones, and returns how many. The export's settings for all panes become
 * each chat's own, since the page keeps its settings.
 * @throws ChorusError if the file is damaged or there is no room
 */
export function importChats(workspace: Workspace, text: string): number {
  const { panes, shared } = parseSavedWorkspace(parseJson(text));
  const room = workspace.room();
  if (panes.length > room) {
    const message = `The file has ${panes.length} chats, but there is room for only ${room} more. Close some panes first.`;
    throw new ChorusError("invalid_value", message, "panes");
  }
  workspace.addChats(panes.map((pane) => resumed({ ...pane, settings: { ...shared, ...pane.settings } })));
  return panes.length;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ChorusError("invalid_value", "The file isn't JSON.", null, { cause });
  }
}

/** Returns a conversation as Markdown: its title, each question as a heading, its answer below. */
export function chatMarkdown(chat: SavedChat): string {
  const turns = chat.turns.map(({ question, answer }) => `## ${oneLine(question)}\n\n${answer.trim()}\n`);
  return [`# ${oneLine(titleOfChat(chat))}\n`, ...turns].join("\n");
}

/** A heading must be one line. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, " ");
}
