// Exports chats to a file and imports them.

import { ChorusError, parseJson } from "../../../index.ts";
import { inParts } from "../in-parts.ts";
import { JsonReader } from "../json-reader.ts";
import {
  asNewChat,
  parseSavedChat,
  parseSavedWorkspace,
  resumed,
  titleOfChat,
  type SavedChat,
} from "./saved-workspace.ts";
import type { Workspace } from "./workspace.ts";

/** Returns all chats of this browser as a file. Where it forbids reading the stored ones, only those of the page. */
export async function exportChats(workspace: Workspace): Promise<string> {
  const stored = (await workspace.chats.storage?.readAll().catch(() => null)) ?? [];
  const chats = new Map(stored.map(({ chat }) => [chat.id, chat]));
  for (const [id, chat] of workspace.chats.unsaved.getState()) {
    if (chat) chats.set(id, chat);
    else chats.delete(id);
  }
  const saved = workspace.toSaved();
  for (const { id } of saved.panes) chats.delete(id ?? "");
  const closed = [...chats.values()];
  return `${JSON.stringify({ ...saved, ...(closed.length > 0 && { closed }) }, null, 2)}\n`;
}

export interface ImportedChats {
  /** Number of chats opened in panes. */
  readonly numOpened: number;
  /** Number of chats in the list: they were closed, or there was no room. */
  readonly numListed: number;
}

/** Largest file of chats that is read. (A book has about a megabyte, thousands of chats have some tens.) */
const MAX_IMPORT_BYTES = 128 * 2 ** 20;

/** Reads a file of chats. @throws ChorusError for one that is too large */
export async function readImport(file: Blob): Promise<string> {
  if (file.size <= MAX_IMPORT_BYTES) return file.text();
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MB`;
  const message = `The file has ${megabytes(file.size)}; at most ${megabytes(MAX_IMPORT_BYTES)} of chats can be opened.`;
  throw new ChorusError("invalid_value", message, "file");
}

/** Progress of an import: numbers of read chats and of all chats. */
export interface ImportProgress {
  readonly numRead: number;
  readonly numChats: number;
}

/**
 * Opens the chats of an export beside the open ones, and lists the closed ones and those that have no room. The
 * export's settings for all panes become each chat's own, since the page keeps its settings. Thousands of chats are read
 * in parts, and nothing is opened before all are read.
 * @throws ChorusError if the file is damaged
 */
export async function importChats(
  workspace: Workspace,
  text: string,
  onProgress: (progress: ImportProgress) => void = () => undefined,
): Promise<ImportedChats> {
  const file = parseFile(text);
  const root = new JsonReader(file);
  const closed = root.has("closed") ? root.field("closed").list() : [];
  const { panes, shared } = parseSavedWorkspace(file);
  const asNew = (chat: SavedChat): SavedChat =>
    resumed(asNewChat({ ...chat, settings: { ...shared, ...chat.settings } }));
  const numChats = panes.length + closed.length;
  const listed = await inParts(
    closed,
    (chat) => asNew(parseSavedChat(chat)),
    (numRead) => onProgress({ numRead, numChats }),
  );
  const { panes: opened, ids } = workspace.importChats(panes.map(asNew), listed);
  return { numOpened: opened.length, numListed: ids.length };
}

function parseFile(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new ChorusError("invalid_value", "The file isn't JSON.", null, { cause });
  }
}

/** Returns a conversation as Markdown: its title, each question as a heading, its answer below. */
export function chatMarkdown(chat: SavedChat): string {
  const turns = chat.turns.map(({ question, answer }) => `## ${oneLine(question)}\n\n${answer.trim()}\n`);
  return [`# ${oneLine(titleOfChat(chat))}\n`, ...turns].join("\n");
}

/** Returns a text as one line, for a heading. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, " ");
}
