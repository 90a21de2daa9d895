import * as Comlink from "comlink";

import { ChorusError } from "../protocol/errors.ts";

/** A worker of this library that has answered. */
export interface OwnWorker<Service extends Startable> {
  readonly worker: Worker;
  readonly remote: Comlink.Remote<Service>;
  readonly started: Awaited<ReturnType<Service["started"]>>;
  /** Resolves when it fails. */
  readonly failed: Promise<ChorusError>;
}

interface Startable {
  started(): unknown;
}

interface OwnWorkerOptions {
  /** The fragment by which all-workers.ts knows it. */
  readonly kind: "engine.worker" | "models.worker";
  readonly name?: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts a worker from its file; where a bundler has left the file behind, as esbuild does, from the text in the bundle.
 * @param openFile is written out where it is called: bundlers look for `new Worker(new URL(...))`
 * @throws ChorusError worker_died; the signal's reason
 */
export async function startOwnWorker<Service extends Startable>(
  openFile: () => Worker,
  { kind, name = "", signal }: OwnWorkerOptions,
): Promise<OwnWorker<Service>> {
  try {
    return await answering(openFile, signal);
  } catch (error) {
    signal?.throwIfAborted();
    const url = await inlineWorkersUrl();
    if (url === null) throw error;
    return answering(() => new Worker(`${url}#${kind}`, { type: "module", name }), signal);
  }
}

/** Starts a worker, and waits until it answers. */
async function answering<Service extends Startable>(
  open: () => Worker,
  signal?: AbortSignal,
): Promise<OwnWorker<Service>> {
  const worker = open();
  const failed = new Promise<ChorusError>((resolve) => {
    worker.addEventListener("error", ({ message }) => {
      const reason = message || "its script could not be loaded";
      resolve(new ChorusError("worker_died", `The library's worker failed: ${reason}.`));
    });
  });
  const remote = Comlink.wrap<Service>(worker);
  try {
    const rejected = failed.then((error) => Promise.reject(error));
    const call = (remote as Comlink.Remote<Startable>).started() as Promise<OwnWorker<Service>["started"]>;
    return { worker, remote, started: await Promise.race([call, rejected, aborted(signal)]), failed };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}

let inlineUrl: Promise<string | null> | undefined;

/**
 * Returns the address of all workers in one script; null where they are files only, or where the script can't be loaded now.
 * It lasts: workers start others from it.
 */
function inlineWorkersUrl(): Promise<string | null> {
  inlineUrl ??= openInlineWorkers().catch(() => {
    inlineUrl = undefined;
    return null;
  });
  return inlineUrl;
}

async function openInlineWorkers(): Promise<string | null> {
  const { packedWorkers } = await import("./inline-workers.ts");
  if (packedWorkers === null) return null;
  const packed = Uint8Array.from(atob(packedWorkers), (letter) => letter.charCodeAt(0));
  const script = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return URL.createObjectURL(new Blob([await new Response(script).arrayBuffer()], { type: "text/javascript" }));
}

/** Rejects with the signal's reason when it is aborted. */
export function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    if (signal?.aborted) reject(signal.reason as Error);
    signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}
