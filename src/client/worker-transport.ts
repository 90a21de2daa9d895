import * as Comlink from "comlink";

import { ChorusError } from "../protocol/errors.ts";
import { randomId } from "../protocol/random-id.ts";
import type { EngineService } from "../protocol/service.ts";
import type { AsyncService, Transport } from "./transport.ts";

/**
 * Starts the engine's worker. Comlink leaves calls to a dead worker pending for ever, and a killed worker fires no
 * event. Therefore the worker holds a Web Lock with its own name: once the page gets that lock, the worker is gone. (Where
 * the browser blocks locks, a killed worker goes unnoticed.)
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
  const worker = new Worker(new URL("../host/engine.worker.ts", import.meta.url), { type: "module", name });
  const closing = new AbortController();
  const failedToStart = new Promise<ChorusError>((resolve) => {
    worker.addEventListener("error", (event) => {
      resolve(
        new ChorusError(
          "worker_died",
          `The engine's worker failed: ${event.message || "its script could not be loaded"}.`,
        ),
      );
    });
  });
  const remote = Comlink.wrap<EngineService & { started(): Promise<boolean> }>(worker);
  let hasLock: boolean;
  try {
    const failed = failedToStart.then((error) => Promise.reject(error));
    hasLock = await Promise.race([remote.started(), failed, aborted(signal)]);
  } catch (error) {
    worker.terminate();
    throw error;
  }
  return {
    service: throughComlink(remote),
    ping: () => remote.started(),
    died: hasLock ? Promise.race([failedToStart, lockFreed(name, closing.signal)]) : failedToStart,
    close() {
      closing.abort();
      remote[Comlink.releaseProxy]();
      worker.terminate();
    },
  };
}

/** Returns a worker's service. Only `load` has callbacks: they stay here, and the worker calls them back. */
export function throughComlink(remote: Comlink.Remote<EngineService>): AsyncService {
  const load: AsyncService["load"] = (location, config, onMessage, onProgress) =>
    remote.load(location, config, Comlink.proxy(onMessage), Comlink.proxy(onProgress));
  return new Proxy<AsyncService>(remote, {
    get: (service, name) => (name === "load" ? load : Reflect.get(service, name)),
  });
}

/** Rejects with the signal's reason when it is aborted. */
export function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason as Error);
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
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
