// The worker's entry: exposes one engine to the page through Comlink.

import * as Comlink from "comlink";

import { announced, prepareComlink } from "../protocol/announced-endpoint.ts";
import { ONE_WAY } from "../protocol/one-way.ts";
import { holdLock } from "../protocol/hold-lock.ts";
import type { ThreadProvider } from "../protocol/thread-provider.ts";
import { RemoteThreads } from "./remote-threads.ts";
import { EngineHost } from "./engine-host.ts";
import { browserPlatform } from "./platforms/browser.ts";

// The worker holds this lock for life, so that the page notices its death. See client/worker-transport.ts.
const isLockHeld = holdLock(navigator.locks, self.name);

Comlink.transferHandlers.set(ONE_WAY.name, ONE_WAY.handler);
prepareComlink(Comlink);

const threads = new RemoteThreads((port) => Comlink.transfer(port, [port]));
const platform = browserPlatform({ gpu: navigator.gpu, threads });
const host = new EngineHost(platform);
// The code of the backend that is tried first arrives while the page asks for a model. Who needs it hears why it does not.
platform.backends[0]?.load().catch(() => undefined);

/** Resolves to whether the lock of the worker's name is held. */
const started = (lender: ThreadProvider): Promise<boolean> => {
  threads.add(lender);
  return isLockHeld;
};
Comlink.expose(Object.assign(host, { started, ping: () => true }), announced(self as unknown as Worker));
