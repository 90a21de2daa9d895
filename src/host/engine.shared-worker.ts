// The entry of the worker that pages share: an engine for each page that connects.

import { connect } from "../protocol/connection.ts";
import { holdLock } from "../protocol/hold-lock.ts";
import { packingLoad } from "../protocol/packed-message.ts";
import { randomId } from "../protocol/random-id.ts";
import type { ThreadProvider } from "../protocol/thread-provider.ts";
import { RemoteThreads } from "./remote-threads.ts";
import { EngineHost } from "./engine-host.ts";
import { browserPlatform } from "./platforms/browser.ts";
import { SharedEngines } from "./shared-engine.ts";

// The worker holds this lock for life, so that pages notice its death. See client/shared-transport.ts.
const lock = `chorus-${randomId()}`;
const isLockHeld = holdLock(navigator.locks, lock);

const threads = new RemoteThreads();
const platform = browserPlatform({ gpu: navigator.gpu, threads });
const shared = new SharedEngines(() => new EngineHost(platform));

self.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  if (!port) return;
  const page = shared.join();
  /**
   * Returns the name of this worker's lock, if it is held. The page holds `pageLock` as long as it lives. Without a lock its
   * end goes unnoticed, and so it can offer no threads.
   */
  const started = async (pageLock: string | null): Promise<string | null> => {
    if (pageLock !== null) {
      threads.add(provider);
      void navigator.locks.request(pageLock, () => {
        threads.remove(provider);
        page.dispose();
      });
    }
    return (await isLockHeld) ? lock : null;
  };
  const own = { load: packingLoad(page.load.bind(page)), started, ping: () => true };
  const provider = connect<ThreadProvider>(port, Object.assign(page, own));
});
