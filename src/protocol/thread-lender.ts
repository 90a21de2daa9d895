export type ThreadKind = "texts" | "grammars";

/** A page that starts threads for an engine in a shared worker: in Chromium that can start none. */
export interface ThreadLender {
  /**
   * Starts a thread that answers at a port. Resolves with a reason when the thread fails.
   * @param id of the caller's, different for each thread
   */
  start(id: number, kind: ThreadKind, port: MessagePort): Promise<string>;
  /** Ends a thread. Idempotent. */
  end(id: number): void;
}
