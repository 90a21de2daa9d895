import type { WorkspaceKeeper } from "./workspace-keeper.ts";

const LOCK = "chorus.chats";

/**
 * Decides which of several tabs saves the chats. The newest tab takes the lock from the previous one, whose chats it has
 * already read. A tab that lost the lock queues for it, and saves the chats again once the others are closed.
 */
export class KeepingTurn {
  readonly #keeper: WorkspaceKeeper;
  readonly #locks: Pick<LockManager, "request">;
  #waiting = new AbortController();

  constructor(keeper: WorkspaceKeeper, locks: Pick<LockManager, "request">) {
    this.#keeper = keeper;
    this.#locks = locks;
  }

  /** Takes the lock for a tab that has just been opened. */
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
      // Without permission for locks, each tab saves what it can.
      if (!isStolen) return;
      this.#keeper.handOver();
      this.#waiting = new AbortController();
      void this.#hold({ signal: this.#waiting.signal }, () => void this.#keeper.takeBack());
    }
  }
}

/**
 * Saves the rest when the page is hidden or closed, and takes turns with other tabs.
 *
 * @param showAll flushes changes that wait for the next frame, which may never come
 */
export function keepWhileOpen(keeper: WorkspaceKeeper, showAll: () => void): void {
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    showAll();
    keeper.flush();
  });
  addEventListener("pagehide", () => {
    showAll();
    keeper.leave();
  });
  if ("locks" in navigator) new KeepingTurn(keeper, navigator.locks).take();
}
