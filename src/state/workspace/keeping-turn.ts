import type { WorkspaceKeeper } from "./workspace-keeper.ts";

const LOCK = "chorus.chats";

/**
 * Of several tabs one keeps the chats. The newest takes the lock from the one before, which it has read already; who has
 * lost it queues for it, and keeps the chats again when the others are closed.
 */
export class KeepingTurn {
  readonly #keeper: WorkspaceKeeper;
  readonly #locks: Pick<LockManager, "request">;
  #waiting = new AbortController();

  constructor(keeper: WorkspaceKeeper, locks: Pick<LockManager, "request">) {
    this.#keeper = keeper;
    this.#locks = locks;
  }

  /** For a tab that has just been opened. */
  take(): void {
    this.#keeper.takeOver = () => {
      this.#waiting.abort();
      void this.#hold({ steal: true }, () => void this.#keeper.takeBack());
    };
    void this.#hold({ steal: true }, () => undefined);
  }

  async #hold(options: LockOptions, onGranted: () => void): Promise<void> {
    try {
      await this.#locks.request(LOCK, options, () => {
        onGranted();
        return new Promise<never>(() => undefined);
      });
    } catch (error) {
      const isStolen = error instanceof DOMException && error.name === "AbortError" && !options.signal?.aborted;
      // Where a page may have no locks, each keeps what it can.
      if (!isStolen) return;
      this.#keeper.handOver();
      this.#waiting = new AbortController();
      void this.#hold({ signal: this.#waiting.signal }, () => void this.#keeper.takeBack());
    }
  }
}

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
