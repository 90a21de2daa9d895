import * as Comlink from "comlink";

import { prepareComlink } from "../protocol/announced-endpoint.ts";
import { ChorusError } from "../protocol/errors.ts";
import { ONE_WAY, oneWay } from "../protocol/one-way.ts";
import { randomId } from "../protocol/random-id.ts";
import type { EngineService } from "../protocol/service.ts";
import type { ThreadProvider } from "../protocol/thread-provider.ts";
import { PageThreads } from "./page-threads.ts";
import { startOwnWorker } from "./own-worker.ts";
import type { AsyncService, Transport } from "./transport.ts";

Comlink.transferHandlers.set(ONE_WAY.name, ONE_WAY.handler);
prepareComlink(Comlink);

/** The service that host/engine.worker.ts exposes. */
interface OwnService extends EngineService {
  /** Resolves to whether the worker holds the lock with its name. */
  started(lender: ThreadProvider): Promise<boolean>;
  ping(): boolean;
}

/**
 * Starts the engine's worker, which starts no others: the page starts its threads. Comlink leaves calls to a dead worker
 * pending for ever, and a killed worker fires no event. Therefore the worker holds a Web Lock with its own name: once the page
 * gets that lock, the worker is gone. (If the browser blocks locks, a killed worker goes unnoticed.)
 * @throws the signal's reason
 */
export async function startWorker(signal?: AbortSignal): Promise<Transport> {
  if (!globalThis.isSecureContext) {
    throw new ChorusError(
      "webgpu_unavailable",
      "WebGPU needs a secure page: open this one over https:// or on localhost.",
    );
  }
  const name = `chorus-${randomId()}`;
  let pageThreads: PageThreads | undefined;
  const { worker, remote, started, failed } = await startOwnWorker<OwnService>(
    () => new Worker(new URL("../host/engine.worker.ts", import.meta.url), { type: "module", name }),
    {
      kind: "engine.worker",
      name,
      signal,
      start: (service, inlineUrl) => service.started(Comlink.proxy((pageThreads = new PageThreads(inlineUrl)))),
    },
  );
  const closing = new AbortController();
  const died = started ? Promise.race([failed, lockFreed(name, closing.signal)]) : failed;
  void died.then(() => pageThreads?.endAll());
  return {
    service: throughComlink(remote),
    ping: () => remote.ping(),
    died,
    close() {
      if (closing.signal.aborted) return; // Comlink throws when a proxy is released twice
      closing.abort();
      pageThreads?.endAll();
      remote[Comlink.releaseProxy]();
      worker.terminate();
    },
  };
}

/** Returns a worker's service. Only `load` has callbacks: they stay here, and the worker calls them back. */
export function throughComlink(remote: Comlink.Remote<EngineService>): AsyncService {
  const load: AsyncService["load"] = (location, config, onMessage, onProgress) =>
    remote.load(location, config, oneWay(onMessage), Comlink.proxy(onProgress));
  return new Proxy<AsyncService>(remote, {
    get: (service, name) => (name === "load" ? load : Reflect.get(service, name)),
  });
}

/** Resolves when the worker that holds this lock is gone. */
export async function lockFreed(name: string, closing: AbortSignal): Promise<ChorusError> {
  try {
    await navigator.locks.request(name, { signal: closing }, () => undefined);
  } catch {
    // Aborted by close(): the worker did not die.
    return new Promise(() => undefined);
  }
  return new ChorusError(
    "worker_died",
    "The engine's worker was stopped, by the browser or by hand. Create the engine again to continue.",
  );
}
