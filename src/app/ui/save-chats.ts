import type { AppState } from "../state/app/app-state.ts";
import type { Pane } from "../state/chat/pane.ts";
import type { ChatStorage } from "../state/workspace/chat-storage.ts";
import { titleOfChat } from "../state/workspace/saved-workspace.ts";
import { fileNameOf, saveFile } from "./save-file.ts";

const load = () => import("../state/workspace/export-chats.ts");

export async function saveAllChats({ workspace }: Pick<AppState, "workspace">): Promise<void> {
  const { exportChats } = await load();
  saveFile("chorus-chats.json", await exportChats(workspace), "application/json");
}

/** Saves the records that can't be read to a file, as they are stored. */
export async function saveDamaged(storage: ChatStorage): Promise<void> {
  const text = JSON.stringify(await storage.readDamaged(), null, 2);
  saveFile("chorus-damaged-chats.json", text, "application/json");
}

export async function saveAsMarkdown(pane: Pane): Promise<void> {
  const chat = pane.toSaved();
  const { chatMarkdown } = await load();
  saveFile(`${fileNameOf(titleOfChat(chat))}.md`, chatMarkdown(chat), "text/markdown");
}
