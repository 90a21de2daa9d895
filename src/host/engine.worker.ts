// The worker's entry: one engine, offered to the page through Comlink.

import * as Comlink from "comlink";

import { EngineHost } from "./engine-host.ts";
import { browserPlatform } from "./platforms/browser.ts";

// Held as long as this worker lives, so that the page can tell when it no longer does. See client/worker-transport.ts.
const lockHeld = new Promise<void>((resolve) => {
  void navigator.locks.request(self.name, () => {
    resolve();
    return new Promise(() => undefined);
  });
});

class WorkerHost extends EngineHost {
  started(): Promise<void> {
    return lockHeld;
  }
}

Comlink.expose(new WorkerHost(browserPlatform({ gpu: navigator.gpu })));
