// The library's `models`: lists, downloads, deletes and estimates models.

import * as Comlink from "comlink";

import { prepareComlink } from "../protocol/announced-endpoint.ts";
import { CATALOGUE, type CatalogueEntry } from "../protocol/catalogue.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { ChorusError, toChorusError } from "../protocol/errors.ts";
import { locateRemoteModel, type HubOptions, type RemoteLocation } from "../protocol/model-source.ts";
import type { DownloadProgress, ModelEstimate, ModelsService, StoredModel } from "../protocol/models.ts";
import { startOwnWorker } from "./own-worker.ts";
import { pageUrl } from "./page-url.ts";

prepareComlink(Comlink);

export interface DownloadModelOptions extends HubOptions {
  /** Called with the downloaded bytes, the rate and the remaining time. [none] */
  onProgress?: (progress: DownloadProgress) => void;
  /** Pauses the download. Downloaded bytes are kept, and the next download resumes there. [none] */
  signal?: AbortSignal;
}

/** Models are named as for createEngine: "owner/name" or its address on the hub, with `revision` and `hubUrl`, or a folder's URL. */
export interface Models {
  /** Models that are known to work. */
  readonly catalogue: readonly CatalogueEntry[];
  /** Returns the models stored for this origin, complete or not. */
  list(): Promise<StoredModel[]>;
  /**
   * Downloads the missing files of a model.
   * @throws ChorusError model_not_found, model_invalid, model_unsupported, model_access_denied, model_download_failed,
   *   storage_full; the signal's reason
   */
  download(model: string, options?: DownloadModelOptions): Promise<StoredModel>;
  /** Deletes a model's stored files. @throws ChorusError model_in_use */
  delete(model: string, hub?: HubOptions): Promise<void>;
  /** Estimates the memory of a model with this config, without downloading its weights. */
  estimate(model: string, options?: EngineConfig & HubOptions): Promise<ModelEstimate>;
}

/** @param here the service in this thread, for calls that write no files */
export function createModels(here: () => Promise<ModelsService>): Models {
  const ask = async <T>(call: (service: ModelsService) => Promise<T>): Promise<T> => {
    const service = await here();
    return call(service).catch((error: unknown) => Promise.reject(toChorusError(error)));
  };
  return {
    catalogue: CATALOGUE,
    list: () => ask((service) => service.list()),
    download,
    delete: (model, hub) => ask((service) => service.delete(locate(model, hub))),
    estimate: async (model, { revision, token, hubUrl, ...config } = {}) =>
      ask((service) => service.estimate(locate(model, { revision, token, hubUrl }), config)),
  };
}

async function download(model: string, options: DownloadModelOptions = {}): Promise<StoredModel> {
  const { onProgress, signal, ...hub } = options;
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw new ChorusError("invalid_type", "onProgress must be a function.", "onProgress");
  }
  const location = locate(model, hub);
  signal?.throwIfAborted();
  if (globalThis.Worker === undefined) {
    throw new ChorusError("storage_full", "Models can be stored in browsers only.");
  }
  // Without this a browser that runs short of space may delete the models. It may ask the user, or refuse.
  void navigator.storage?.persist?.().catch(() => false);
  const { worker, remote, failed } = await startOwnWorker<ModelsService & { started(): boolean }>(
    () => new Worker(new URL("../host/models.worker.ts", import.meta.url), { type: "module" }),
    { kind: "models.worker", signal, start: (models) => models.started() },
  );
  const cancel = () => void remote.cancelDownload();
  signal?.addEventListener("abort", cancel, { once: true });
  try {
    const callback = Comlink.proxy(onProgress ?? (() => undefined));
    const died = failed.then((error) => Promise.reject(error));
    return await Promise.race([remote.download(location, callback), died]);
  } catch (error) {
    signal?.throwIfAborted();
    throw error;
  } finally {
    signal?.removeEventListener("abort", cancel);
    remote[Comlink.releaseProxy]();
    worker.terminate();
  }
}

function locate(model: string, hub: HubOptions = {}): RemoteLocation {
  return locateRemoteModel(model, hub, pageUrl());
}
