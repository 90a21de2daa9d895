// The worker's entry: exposes one engine to the page through Comlink.

import * as Comlink from "comlink";

import { EngineHost } from "./engine-host.ts";
import { browserPlatform } from "./platforms/browser.ts";

// The worker holds this lock for life, so that the page notices its death. See client/worker-transport.ts.
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
