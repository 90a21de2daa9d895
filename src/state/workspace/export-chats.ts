// Chats as a file, and back.

import { ChorusError } from "../../protocol/errors.ts";
import { parseSavedWorkspace, resumed, titleOfChat, type SavedChat } from "./saved-workspace.ts";
import type { Workspace } from "./workspace.ts";

export function exportChats(workspace: Workspace): string {
  return `${JSON.stringify(workspace.toSaved(), null, 2)}\n`;
}

/**
 * Opens the chats of an export beside those that are there, and returns how many. Settings for all panes become each
 * chat's own: those of the page stay.
 * @throws ChorusError that says what is wrong with the file, or that there is no room
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

/** One conversation for people to read: its title, each question as a heading, its answer below. */
export function chatMarkdown(chat: SavedChat): string {
  const turns = chat.turns.map(({ question, answer }) => `## ${oneLine(question)}\n\n${answer.trim()}\n`);
  return [`# ${oneLine(titleOfChat(chat))}\n`, ...turns].join("\n");
}

/** A heading ends with its line. */
function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, " ");
}
