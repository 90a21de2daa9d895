import type { WorkspaceKeeper } from "./workspace-keeper.ts";

const LOCK = "chorus.chats";

/**
 * Writes down what is left when the page is hidden or goes. Of several tabs the newest writes: it takes the lock from
 * the one before, which it has read already.
 */
export function keepWhileOpen(keeper: WorkspaceKeeper): void {
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) keeper.flush();
  });
  addEventListener("pagehide", keeper.flush);
  navigator.locks
    ?.request(LOCK, { steal: true }, () => new Promise<never>(() => undefined))
    .catch(() => keeper.handOver());
}
