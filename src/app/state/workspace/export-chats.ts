import { ChorusError, parseJson } from "../../../index.ts";
import { fenced } from "../fenced.ts";
import { inParts } from "../in-parts.ts";
import { oneLine } from "../one-line.ts";
import { anything, listOf, optional, recordOf } from "../read-record.ts";
import { asNewChat, parseSavedWorkspace, readChat, resumed, titleOfChat, type SavedChat } from "./saved-workspace.ts";
import type { Workspace } from "./workspace.ts";

/** Returns all chats of this browser as a file. Where it forbids reading the stored ones, only those of the page. */
export async function exportChats(workspace: Workspace): Promise<string> {
  const saved = workspace.toSaved();
  const closed = await closedChats(workspace, saved.panes);
  return `${JSON.stringify({ ...saved, ...(closed.length > 0 && { closed }) }, null, 2)}\n`;
}

/** Returns all chats of this browser, the open ones first. */
export async function allChats(workspace: Workspace): Promise<readonly SavedChat[]> {
  const { panes } = workspace.toSaved();
  return [...panes, ...(await closedChats(workspace, panes))];
}

async function closedChats(workspace: Workspace, open: readonly SavedChat[]): Promise<readonly SavedChat[]> {
  const stored = (await workspace.chats.storage?.readAll().catch(() => null)) ?? [];
  const chats = new Map(stored.map(({ chat }) => [chat.id, chat]));
  for (const [id, chat] of workspace.chats.unsaved.getState()) {
    if (chat) chats.set(id, chat);
    else chats.delete(id);
  }
  for (const { id } of open) chats.delete(id ?? "");
  return [...chats.values()];
}

export type ImportedChats = Awaited<ReturnType<typeof importChats>>;

/** Largest file of chats that is read. (A book has about a megabyte, thousands of chats have some tens.) */
const MAX_IMPORT_BYTES = 128 * 2 ** 20;

/** Reads a file of chats. @throws ChorusError for one that is too large */
export async function readImport(file: Blob): Promise<string> {
  if (file.size <= MAX_IMPORT_BYTES) return file.text();
  const [size, most] = [file.size, MAX_IMPORT_BYTES].map((bytes) => `${Math.ceil(bytes / 2 ** 20)} MB`);
  throw new ChorusError("invalid_value", `The file has ${size}; at most ${most} of chats can be opened.`, "file");
}

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
) {
  const file = parseFile(text);
  if ((file as { readonly app?: unknown } | null)?.app !== "chorus")
    throw new ChorusError("invalid_value", "This file is not an export of Chorus.");
  const { closed = [] } = readClosed(file, "");
  const { panes, shared } = parseSavedWorkspace(file);
  const asNew = (chat: SavedChat): SavedChat =>
    resumed(asNewChat({ ...chat, settings: { ...shared, ...chat.settings } }));
  const numChats = panes.length + closed.length;
  const listed = await inParts(
    closed,
    (chat, index) => asNew(readChat(chat, `closed[${index}]`)),
    (numRead) => onProgress({ numRead, numChats }),
  );
  const { panes: opened, ids } = workspace.importChats(panes.map(asNew), listed);
  // What is in the list was closed, or there was no room.
  return { numOpened: opened.length, numListed: ids.length };
}

const readClosed = recordOf({ closed: optional(listOf(anything)) });

function parseFile(text: string): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new ChorusError("invalid_value", "The file isn't JSON.", null, { cause });
  }
}

/** Returns a conversation as Markdown: its title, each question as a heading, its calls of tools and its answer below. */
export function chatMarkdown(chat: SavedChat): string {
  const turns = chat.turns.map(({ question, answer, rounds = [] }) => {
    const texts = rounds.flatMap(({ said, calls }) => [
      said.trim(),
      ...calls.map((call) => `Call of ${call.name}:\n\n${fenced(`${call.arguments}\n\n${call.result ?? "Not run"}`)}`),
    ]);
    return [`## ${oneLine(question)}`, ...texts, answer.trim()].filter(Boolean).join("\n\n") + "\n";
  });
  return [`# ${oneLine(titleOfChat(chat))}\n`, ...turns].join("\n");
}
