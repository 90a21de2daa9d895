import { LentWorkers } from "../src/client/lend-threads.ts";
import { BorrowedThreads } from "../src/host/borrowed-threads.ts";

/** Threads that this page starts for itself, as for an engine in place. */
export function ownThreads(): BorrowedThreads {
  const threads = new BorrowedThreads((port) => port);
  threads.add(new LentWorkers(null));
  return threads;
}
