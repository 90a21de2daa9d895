// The worker's entry: one engine for the page that started it.

import { connect } from "../protocol/connection.ts";
import { holdLock } from "../protocol/hold-lock.ts";
import { packingLoad } from "../protocol/packed-message.ts";
import type { ThreadProvider } from "../protocol/thread-provider.ts";
import { RemoteThreads } from "./remote-threads.ts";
import { EngineHost } from "./engine-host.ts";
import { browserPlatform } from "./platforms/browser.ts";

// The worker holds this lock for life, so that the page notices its death. See client/worker-transport.ts.
const isLockHeld = holdLock(navigator.locks, self.name);

const threads = new RemoteThreads();
const platform = browserPlatform({ gpu: navigator.gpu, threads });
const host = new EngineHost(platform);
// The code of the backend that is tried first arrives while the page asks for a model. Who needs it hears why it does not.
platform.backends[0]?.load().catch(() => undefined);

/** `started` resolves to whether the lock of the worker's name is held. */
const own = { load: packingLoad(host.load), started: () => isLockHeld, ping: () => true };
threads.add(connect<ThreadProvider>(self as unknown as Worker, Object.assign(host, own)));
