import * as Comlink from "comlink";

import { announced } from "../protocol/announced-endpoint.ts";
import { withStallTimeout } from "../protocol/with-stall-timeout.ts";
import { ChorusError } from "../protocol/errors.ts";
import { untilAborted } from "../protocol/until-aborted.ts";

/** A slow network delivers a worker's script late, without any progress event. */
const MAX_START_MS = 120_000;

interface OwnWorker<Service extends Startable> {
  readonly worker: Worker;
  readonly remote: Comlink.Remote<Service>;
  readonly started: Started<Service>;
  readonly failed: Promise<ChorusError>;
}

interface Startable {
  started(...args: never[]): unknown;
}

type Started<Service extends Startable> = Awaited<ReturnType<Service["started"]>>;

interface OwnWorkerOptions<Service extends Startable> {
  /** Its name in the URL's fragment, for all-workers.ts. */
  readonly kind: "engine.worker" | "models.worker";
  readonly name?: string;
  readonly signal?: AbortSignal | undefined;
  /** Waits for the worker's first answer. @param inlineUrl of the script in the bundle, if it was started from there */
  readonly start: (remote: Comlink.Remote<Service>, inlineUrl: string | null) => Promise<Started<Service>>;
}

/**
 * Starts a worker from its file, or, if a bundler such as esbuild has dropped the file, from the script in the bundle.
 * @param openFile is spelled out by callers: bundlers look for `new Worker(new URL(...))`
 * @throws ChorusError worker_died; the signal's reason
 */
export async function startOwnWorker<Service extends Startable>(
  openFile: () => Worker,
  { kind, name = "", signal, start }: OwnWorkerOptions<Service>,
): Promise<OwnWorker<Service>> {
  try {
    return await answering(openFile, (remote) => start(remote, null), signal);
  } catch (error) {
    signal?.throwIfAborted();
    const url = await inlineWorkersUrl();
    if (url === null) throw error;
    const open = () => new Worker(`${url}#${kind}`, { type: "module", name });
    return answering(open, (remote) => start(remote, url), signal);
  }
}

async function answering<Service extends Startable>(
  open: () => Worker,
  start: (remote: Comlink.Remote<Service>) => Promise<Started<Service>>,
  signal?: AbortSignal,
): Promise<OwnWorker<Service>> {
  const worker = open();
  const failed = new Promise<ChorusError>((resolve) => {
    worker.addEventListener("error", ({ message }) => {
      const reason = message || "its script could not be loaded";
      resolve(new ChorusError("worker_died", `The library's worker failed: ${reason}.`));
    });
  });
  const remote = Comlink.wrap<Service>(announced(worker));
  try {
    const rejected = failed.then((error) => Promise.reject(error));
    return {
      worker,
      remote,
      started: await untilAborted(Promise.race([firstAnswer(() => start(remote)), rejected]), signal),
      failed,
    };
  } catch (error) {
    worker.terminate();
    throw error;
  }
}

/** Waits for a worker's first answer. @throws ChorusError worker_died if there is none */
export function firstAnswer<T>(start: () => Promise<T>): Promise<T> {
  const message = `The library's worker gave no answer within ${MAX_START_MS / 1000} seconds.`;
  return withStallTimeout(start, { limitMs: MAX_START_MS, error: () => new ChorusError("worker_died", message) });
}

let inlineUrl: Promise<string | null> | undefined;

/**
 * Returns the URL of all workers in one script; null if they are files only, or if the script can't be loaded now. It stays
 * valid: workers start others from it.
 */
export function inlineWorkersUrl(): Promise<string | null> {
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
