import * as Comlink from "comlink";

import { announced } from "../protocol/announced-endpoint.ts";
import { ChorusError } from "../protocol/errors.ts";
import { holdLock } from "../protocol/hold-lock.ts";
import { randomId } from "../protocol/random-id.ts";
import type { EngineService } from "../protocol/service.ts";
import type { ThreadProvider } from "../protocol/thread-provider.ts";
import { untilAborted } from "../protocol/until-aborted.ts";
import { PageThreads } from "./page-threads.ts";
import { firstAnswer } from "./own-worker.ts";
import type { Transport } from "./transport.ts";
import { lockFreed, throughComlink } from "./worker-transport.ts";

interface SharedService extends EngineService {
  /** @param pageLock the lock that this page holds; null if it can't hold any */
  started(pageLock: string | null, lender: ThreadProvider): Promise<string | null>;
  ping(): boolean;
}

/**
 * Joins the engine that the pages of this origin share, and starts its worker if this page is the first.
 * @throws ChorusError worker_died if the worker can't be loaded; the signal's reason
 */
export async function joinSharedWorker(signal?: AbortSignal): Promise<Transport> {
  // Written so that bundlers can read the URL and the options.
  const worker = new SharedWorker(new URL("../host/engine.shared-worker.ts", import.meta.url), {
    type: "module",
    name: "chorus",
  });
  const failedToStart = new Promise<ChorusError>((resolve) => {
    const message = "The engine's shared worker failed: its script could not be loaded.";
    worker.addEventListener("error", () => resolve(new ChorusError("worker_died", message)));
  });
  const closing = new AbortController();
  const name = `chorus-page-${randomId()}`;
  const pageLock = (await holdLock(navigator.locks, name, closing.signal)) ? name : null;
  const remote = Comlink.wrap<SharedService>(announced(worker.port));
  const pageThreads = new PageThreads(null);
  const failed = failedToStart.then((error) => Promise.reject(error));
  const close = () => {
    if (closing.signal.aborted) return; // Comlink throws when a proxy is released twice
    closing.abort(); // frees the page's lock: the worker then knows that it has left
    pageThreads.endAll();
    remote[Comlink.releaseProxy]();
    worker.port.close();
  };
  let workerLock: string | null;
  try {
    const started = firstAnswer(() => remote.started(pageLock, Comlink.proxy(pageThreads)));
    workerLock = await untilAborted(Promise.race([started, failed]), signal);
  } catch (error) {
    close();
    throw error;
  }
  const died =
    workerLock === null ? failedToStart : Promise.race([failedToStart, lockFreed(workerLock, closing.signal)]);
  void died.then(() => pageThreads.endAll());
  return {
    service: throughComlink(remote),
    ping: () => remote.ping(),
    died,
    close,
  };
}
