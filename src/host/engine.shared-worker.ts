// The entry of the worker that pages share: exposes an engine to each page that connects, through Comlink.

import * as Comlink from "comlink";

import { announced, prepareComlink } from "../protocol/announced-endpoint.ts";
import { ONE_WAY } from "../protocol/one-way.ts";
import { holdLock } from "../protocol/hold-lock.ts";
import { randomId } from "../protocol/random-id.ts";
import type { ThreadProvider } from "../protocol/thread-provider.ts";
import { RemoteThreads } from "./remote-threads.ts";
import { EngineHost } from "./engine-host.ts";
import { browserPlatform } from "./platforms/browser.ts";
import { sharedEngines } from "./shared-engine.ts";

// The worker holds this lock for life, so that pages notice its death. See client/shared-transport.ts.
const lock = `chorus-${randomId()}`;
const isLockHeld = holdLock(navigator.locks, lock);

Comlink.transferHandlers.set(ONE_WAY.name, ONE_WAY.handler);
prepareComlink(Comlink);

const threads = new RemoteThreads((port) => Comlink.transfer(port, [port]));
const platform = browserPlatform({ gpu: navigator.gpu, threads });
const join = sharedEngines(() => new EngineHost(platform));

self.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  const page = join();
  /**
   * Returns the name of this worker's lock, if it is held. The page holds `pageLock` as long as it lives. Without a lock its
   * end goes unnoticed, and so it can offer no threads.
   */
  const started = async (pageLock: string | null, lender: ThreadProvider): Promise<string | null> => {
    if (pageLock !== null) {
      threads.add(lender);
      void navigator.locks.request(pageLock, () => {
        threads.remove(lender);
        page.dispose();
      });
    }
    return (await isLockHeld) ? lock : null;
  };
  if (port) Comlink.expose(Object.assign(page, { started, ping: () => true }), announced(port));
});
