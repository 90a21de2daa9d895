import { KeepingTurn } from "./keeping-turn.ts";
import type { WorkspaceKeeper } from "./workspace-keeper.ts";

/**
 * Writes down what is left when the page is hidden or goes, and takes turns with other tabs.
 *
 * @param showAll lets the stores have what waits for the next frame: it may never come
 */
export function keepWhileOpen(keeper: WorkspaceKeeper, showAll: () => void): void {
  const writeAll = () => {
    showAll();
    keeper.flush();
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) writeAll();
  });
  addEventListener("pagehide", writeAll);
  if ("locks" in navigator) new KeepingTurn(keeper, navigator.locks).take();
}
