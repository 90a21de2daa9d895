import { PageThreads } from "../src/client/page-threads.ts";
import { RemoteThreads } from "../src/host/remote-threads.ts";

/** Threads that this page starts for itself, as for an engine in place. */
export function ownThreads(): RemoteThreads {
  const threads = new RemoteThreads((port) => port);
  threads.add(new PageThreads(null));
  return threads;
}
