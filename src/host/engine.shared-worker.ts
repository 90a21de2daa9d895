// The entry of the worker that pages share: exposes an engine to each page that connects, through Comlink.

import * as Comlink from "comlink";

import { randomId } from "../protocol/random-id.ts";
import { EngineHost } from "./engine-host.ts";
import { holdLifeLock } from "./life-lock.ts";
import { browserPlatform } from "./platforms/browser.ts";
import { SharedEngines } from "./shared-engine.ts";

// The worker holds this lock for life, so that pages notice its death. See client/shared-transport.ts.
const lock = `chorus-${randomId()}`;
const isLockHeld = holdLifeLock(navigator.locks, lock);

const shared = new SharedEngines(() => new EngineHost(browserPlatform({ gpu: navigator.gpu })));

self.addEventListener("connect", (event) => {
  const [port] = (event as MessageEvent).ports;
  const page = shared.join();
  /** Returns the name of this worker's lock, if it is held. The page holds `pageLock` as long as it lives. */
  const started = async (pageLock: string | null): Promise<string | null> => {
    if (pageLock !== null) void navigator.locks.request(pageLock, () => page.dispose());
    return (await isLockHeld) ? lock : null;
  };
  if (port) Comlink.expose(Object.assign(page, { started, ping: () => true }), port);
});
