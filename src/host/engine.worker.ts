// The worker's entry: exposes one engine to the page through Comlink.

import * as Comlink from "comlink";

import { ONE_WAY } from "../protocol/one-way.ts";
import { EngineHost } from "./engine-host.ts";
import { holdLifeLock } from "./life-lock.ts";
import { browserPlatform } from "./platforms/browser.ts";

// The worker holds this lock for life, so that the page notices its death. See client/worker-transport.ts.
const isLockHeld = holdLifeLock(navigator.locks, self.name);

Comlink.transferHandlers.set(ONE_WAY.name, ONE_WAY.handler);

class WorkerHost extends EngineHost {
  /** Whether the lock of the worker's name is held. */
  started(): Promise<boolean> {
    return isLockHeld;
  }
}

Comlink.expose(new WorkerHost(browserPlatform({ gpu: navigator.gpu })));
