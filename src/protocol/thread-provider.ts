/** A helper computes beside the CPU backend's own thread, and shares memory with it. */
export type ThreadKind = "texts" | "grammars" | "helpers";

/**
 * A page that starts threads for an engine in a worker. In Chromium a shared worker can start none. In Firefox a worker that
 * starts another may wait for ever inside of `new Worker()`.
 */
export interface ThreadProvider {
  /**
   * Starts a thread that answers at a port. Resolves with a reason when the thread fails.
   * @param id of the caller's, different for each thread
   */
  start(id: number, kind: ThreadKind, port: MessagePort): Promise<string>;
  /** Ends a thread. Idempotent. */
  end(id: number): void;
}
