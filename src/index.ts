// The library: createEngine, its types and its error.

import { createModels, type Models } from "./client/models-client.ts";
import { PageThreads } from "./client/page-threads.ts";
import { EngineClient, signalOf } from "./client/engine-client.ts";
import { pageUrl } from "./client/page-url.ts";
import { startWorker } from "./client/worker-transport.ts";
import type { Transport } from "./client/transport.ts";
import type { Platform } from "./host/platforms/platform.ts";
import type { ModelSource } from "./protocol/config.ts";
import type { ChorusEngine, CreateEngineOptions } from "./protocol/engine.ts";
import { ChorusError } from "./protocol/errors.ts";
import { locateModel, withAbsoluteDraft, type HubLocation } from "./protocol/model-source.ts";

export { BlockLedger } from "./recording/block-ledger.ts";
export { chromeTrace } from "./recording/chrome-trace.ts";
export { readRecording } from "./recording/read-recording.ts";
export { recordRun, type RunRecorder } from "./recording/recording.ts";
export type { RecordedConfig, RecordedEvent, Recording } from "./recording/recording-format.ts";
export type { DownloadModelOptions, Models } from "./client/models-client.ts";
export { parseJson } from "./protocol/bounded-data.ts";
export { ChorusError, toErrorData, type ChorusErrorCode, type ChorusErrorData } from "./protocol/errors.ts";
export type * from "./protocol/config.ts";
export { ALERT_FIELDS, BACKEND_CHOICES, CONFIG_FIELDS, DRAFT_FIELDS, WEIGHTS_DTYPES } from "./protocol/config.ts";
export type * from "./protocol/catalogue.ts";
export type * from "./protocol/engine.ts";
export {
  changesBetween,
  fieldThatRestarts,
  LIVE_FIELDS,
  type EngineChanges,
  type LoadedSizes,
} from "./protocol/live-config.ts";
export {
  DEFAULT_HUB_URL,
  DEFAULT_REVISION,
  isHubId,
  locateRemoteModel,
  nameOfModel,
  type FolderLocation,
  type HubLocation,
  type HubOptions,
  type RemoteLocation,
} from "./protocol/model-source.ts";
export type { DownloadProgress, GgufModel, ModelEstimate, StoredModel } from "./protocol/models.ts";
export type * from "./protocol/json-schema.ts";
export type * from "./protocol/openai.ts";
export type * from "./protocol/openai-responses.ts";
export type * from "./protocol/openai-tools.ts";
export type * from "./protocol/rendered-chat.ts";
export type * from "./protocol/reports.ts";
export type * from "./protocol/request-metrics.ts";
export type * from "./protocol/tokenize.ts";
export { gpuUseOf, KV_BLOCK_STATES, tokensOf } from "./protocol/reports.ts";
export { randomId } from "./protocol/random-id.ts";

/**
 * Loads a model and starts an engine, in a Web Worker unless `worker: false` is given or there are none.
 *
 * @throws ChorusError webgpu_unavailable, kernel_refused, model_*, out_of_memory, or for a config field, named by `param`; the reason of
 * `signal` where that gives up.
 */
export async function createEngine(options: CreateEngineOptions): Promise<ChorusEngine> {
  if (typeof options !== "object" || options === null) {
    throw new ChorusError("invalid_type", 'createEngine takes an object, such as { model: "/models/name/" }.');
  }
  const { model, revision, token, hubUrl, onProgress, signal, worker = hasWebWorkers(), gpu, ...config } = options;
  checkOptions({ onProgress, worker, gpu });
  if (worker !== false) checkWorkers();
  signalOf({ signal })?.throwIfAborted();
  const location = locateModel(await filesOf(model), { revision, token, hubUrl }, pageUrl());
  const isShared = worker === "shared" && globalThis.SharedWorker !== undefined;
  if (isShared && location.type === "hub") await storeModel(location, onProgress, signal);
  const { speculation } = config;
  if (speculation?.method === "draft_model")
    config.speculation = { ...speculation, model: await filesOf(speculation.model) };
  const transport = isShared ? await joinShared(signal) : worker ? await startWorker(signal) : await inPlace(gpu);
  return EngineClient.connect(transport, location, withAbsoluteDraft(config, pageUrl()), {
    ...(onProgress && { onProgress }),
    ...(signal && { signal }),
  });
}

/**
 * Returns why answers can't follow a JSON schema, naming the place ("schema.properties.age..."), or null if they can. It needs
 * no engine. What depends on a model's tokens is checked with the request.
 */
export async function schemaProblem(schema: unknown): Promise<string | null> {
  // A file of its own, loaded with the first schema.
  return (await importing(() => import("./grammar/compile.ts"))).schemaProblem(schema);
}

/** Returns a folder's files where a path of this machine names the model: in Node, where no page gives paths a meaning. */
async function filesOf(given: ModelSource | URL): Promise<ModelSource> {
  const model = given instanceof URL ? given.href : given;
  if (typeof model !== "string" || model === "" || globalThis.indexedDB || !globalThis.process?.getBuiltinModule)
    return model;
  const { openDiskFolder } = await import("./host/platforms/disk-folder.ts");
  return (await openDiskFolder(model)) ?? model;
}

/** @throws ChorusError where there are none */
function checkWorkers(): void {
  if (hasWebWorkers()) return;
  const advice = isServiceWorker()
    ? USE_A_PAGE
    : "Leave worker out, or give worker: false: then the engine runs in this thread.";
  throw new ChorusError("invalid_value", `There are no Web Workers here. ${advice}`, "worker");
}

/** The config's fields are checked where the engine runs. */
function checkOptions({ onProgress, worker, gpu }: Record<string, unknown>): void {
  const wrongType = (param: string, expected: string) =>
    new ChorusError("invalid_type", `${param} must be ${expected}.`, param);
  if (onProgress !== undefined && typeof onProgress !== "function") throw wrongType("onProgress", "a function");
  if (typeof worker !== "boolean" && worker !== "shared") throw wrongType("worker", 'true, false or "shared"');
  if (gpu === undefined || gpu === null) return;
  if (typeof gpu !== "object" || !("requestAdapter" in gpu)) throw wrongType("gpu", "a GPU");
  if (worker !== false) {
    throw new ChorusError("invalid_value", "gpu can be given with worker: false only: a worker has its own.", "gpu");
  }
}

/** Node has none, nor has a service worker. Those of other runtimes aren't a browser's. */
function hasWebWorkers(): boolean {
  return globalThis.Worker !== undefined && globalThis.isSecureContext !== undefined;
}

const isServiceWorker = (): boolean => "ServiceWorkerGlobalScope" in globalThis;
const USE_A_PAGE = "Create the engine in a page instead: an extension has offscreen documents for that.";

/** Runs what imports parts of the library. @throws ChorusError in service workers, which may not import */
async function importing<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isServiceWorker()) throw cause;
    const message = `A service worker can't load the engine's code. ${USE_A_PAGE}`;
    throw new ChorusError("invalid_value", message, "worker", { cause });
  }
}

async function joinShared(signal?: AbortSignal): Promise<Transport> {
  const { joinSharedWorker } = await import("./client/shared-transport.ts");
  try {
    return await joinSharedWorker(signal);
  } catch {
    signal?.throwIfAborted();
    // Pages whose site data is blocked, and frames of other sites, can share nothing.
    return startWorker(signal);
  }
}

/** Stores a model as a worker of one page does when it loads it: shared workers can't write files. */
async function storeModel(
  { id, revision, hubUrl, token }: HubLocation,
  onProgress: CreateEngineOptions["onProgress"],
  signal?: AbortSignal,
): Promise<void> {
  try {
    await models.download(id, {
      revision,
      hubUrl,
      ...(token !== null && { token }),
      ...(signal && { signal }),
      onProgress: ({ receivedBytes, totalBytes }) =>
        onProgress?.({ stage: "weights", done: receivedBytes, total: totalBytes }),
    });
  } catch (error) {
    // Without a place to store it, it is read from the hub each time.
    if (!(error instanceof ChorusError && error.code === "storage_full")) throw error;
  }
}

async function inPlace(gpu: GPU | undefined): Promise<Transport> {
  const [{ EngineHost }, platform] = await importing(() =>
    Promise.all([import("./host/engine-host.ts"), platformHere(gpu)]),
  );
  return {
    service: new EngineHost(platform),
    died: new Promise(() => undefined),
    close: () => undefined,
  };
}

/** The models that this browser keeps. */
export const models: Models = createModels(async () => {
  const [{ ModelsHost }, platform] = await importing(() =>
    Promise.all([import("./host/models-host.ts"), platformHere()]),
  );
  return new ModelsHost(platform);
});

/** Where there are no workers, as in Chromium's shared ones, everything runs on this thread. */
async function browserHere(gpu: GPU | undefined): Promise<Platform> {
  const { browserPlatform } = await import("./host/platforms/browser.ts");
  if (globalThis.Worker === undefined) return browserPlatform({ gpu });
  const { RemoteThreads } = await import("./host/remote-threads.ts");
  const threads = new RemoteThreads((port) => port);
  threads.add(new PageThreads(null));
  return browserPlatform({ gpu, threads });
}

/** The home of an engine that runs in place: a browser keeps things in IndexedDB, Node does not. */
async function platformHere(gpu = globalThis.navigator?.gpu): Promise<Platform> {
  if (globalThis.indexedDB) return browserHere(gpu);
  return (await import("./host/platforms/node.ts")).nodePlatform({ gpu });
}
