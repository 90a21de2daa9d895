import type { AppState } from "../state/app/app-state.ts";
import type { Pane } from "../state/chat/pane.ts";
import { titleOfChat } from "../state/workspace/saved-workspace.ts";
import { fileNameOf, saveFile } from "./save-file.ts";

const load = () => import("../state/workspace/export-chats.ts");

/** Saves all chats to one file. */
export async function saveAllChats({ workspace, keeper }: Pick<AppState, "workspace" | "keeper">): Promise<void> {
  const { exportChats } = await load();
  saveFile("chorus-chats.json", await exportChats(workspace, keeper && keeper.storedChats), "application/json");
}

export async function saveAsMarkdown(pane: Pane): Promise<void> {
  const chat = pane.toSaved();
  const { chatMarkdown } = await load();
  saveFile(`${fileNameOf(titleOfChat(chat))}.md`, chatMarkdown(chat), "text/markdown");
}
