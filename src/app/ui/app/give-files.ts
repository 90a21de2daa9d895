import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";

/** Gives files to a pane. What reads them is loaded with the first. */
export async function giveFiles(app: AppState, pane: Pane, files: readonly File[]): Promise<void> {
  const reader = await import("./take-files.ts").catch(() => null);
  if (reader) await reader.takeFiles(app, pane, files);
  else app.workspace.undoList.notify("Files can't be read now. Reload the page when the network is back.");
}
