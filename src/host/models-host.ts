import { parseBackendChoice } from "../api/engine-config.ts";
import { HttpClient } from "../files/hub/http-client.ts";
import { mainTypeOf } from "../files/gguf/ggml-types.ts";
import { ggufModelsIn, quantisationOf } from "../files/gguf/gguf-names.ts";
import { openRemoteFolder, type RemoteFolder } from "../files/hub/remote-folder.ts";
import { CONFIG_FILE } from "../files/model-folder.ts";
import type { ModelStore } from "../files/store/model-store.ts";
import { storageFull } from "../files/store/opfs.ts";
import { planModel } from "../files/store/plan-download.ts";
import { describeModel } from "../models/families.ts";
import type { Model } from "../models/model.ts";
import { countParameters } from "../models/model-weights.ts";
import { dtypesOf, mixtureOf, storedIn } from "../models/weight-layouts.ts";
import { byteSize } from "../protocol/byte-size.ts";
import type { EngineConfig, WeightsDtype } from "../protocol/config.ts";
import { ChorusError, toErrorData, type ChorusErrorData } from "../protocol/errors.ts";
import { nameOfModel, type HubLocation, type RemoteLocation } from "../protocol/model-source.ts";
import type { DownloadProgress, GgufModel, ModelEstimate, ModelsService, StoredModel } from "../protocol/models.ts";
import { asFolder } from "./loading/gguf-as-folder.ts";
import { checkFits } from "./loading/check-fits.ts";
import { configFor } from "./loading/config-for.ts";
import { openBackend } from "./loading/open-backend.ts";
import type { Platform } from "./platforms/platform.ts";

/** Lists, estimates and deletes this browser's models anywhere, and downloads them in a worker. */
export class ModelsHost implements ModelsService {
  readonly #platform: Platform;
  readonly #cancel = new AbortController();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  async list(): Promise<StoredModel[]> {
    return (await this.#platform.openModelStore())?.list() ?? [];
  }

  async delete(location: RemoteLocation): Promise<void> {
    await (await this.#platform.openModelStore())?.delete(location);
  }

  async download(location: RemoteLocation, onProgress: (progress: DownloadProgress) => void): Promise<StoredModel> {
    const store = await this.#platform.openModelStore();
    if (!store?.canDownload) throw noStorage();
    return store.download(location, { onProgress, signal: this.#cancel.signal });
  }

  cancelDownload(): void {
    this.#cancel.abort();
  }

  async estimate(location: RemoteLocation, config: EngineConfig): Promise<ModelEstimate> {
    const store = await this.#platform.openModelStore();
    const { model, downloadBytes, storedBytes, ggufModels } = await sizesOf(location, store);
    const choice = parseBackendChoice(config.backend);
    const opened = await openBackend(this.#platform.backends, choice, this.#platform).catch(toErrorData);
    const backend = "code" in opened ? null : opened.opened;
    const engine = configFor(model, config, backend);
    const freeBytes = (await store?.freeBytes()) ?? null;
    const sizes = backend ?? (await this.#platform.backends[0]?.load()) ?? noBackend();
    const { weightBytes, kvCacheBytes } = sizes.memory(model, engine);
    const weightsAs = (dtype: WeightsDtype) => sizes.memory(model, { ...engine, dtype }).weightBytes;
    const problemOf = (one: Model, bytes: number, asked: EngineConfig): ChorusErrorData | null => {
      if ("code" in opened) return opened;
      try {
        checkFits(opened.opened, one, configFor(one, asked, backend), asked);
        return storageProblem(bytes, freeBytes);
      } catch (error) {
        return toErrorData(error);
      }
    };
    const problem = problemOf(model, downloadBytes, config);
    const { dtype: _, ...others } = config;
    const withProblem = (gguf: Omit<GgufModel, "problem">): GgufModel => {
      const { quantisation, downloadBytes: bytes } = gguf;
      const type = quantisation === null ? null : mainTypeOf(quantisation);
      if (type === undefined) return { ...gguf, problem: toErrorData(notRead(quantisation ?? "")) };
      return { ...gguf, problem: type && problemOf(storedIn(model, type), bytes, others) };
    };
    backend?.close();
    return {
      downloadBytes,
      storedBytes,
      freeBytes,
      contextLength: engine.maxModelLen,
      numParameters: countParameters(model),
      dtype: engine.dtype,
      kvCacheDtype: engine.kvCacheDtype,
      weightBytes,
      weightBytesByDtype: Object.fromEntries(dtypesOf(model).map((dtype) => [dtype, weightsAs(dtype)])),
      mixture: mixtureOf(model),
      kvCacheBytes,
      ggufModels: ggufModels.map(withProblem),
      problem,
    };
  }
}

function notRead(quantisation: string): ChorusError {
  return new ChorusError("model_unsupported", `Weights in ${quantisation} are not read: choose another file.`, "model");
}

function noBackend(): never {
  throw new ChorusError("internal_error", "This platform has no backend.");
}

interface Sizes {
  readonly model: Model;
  readonly downloadBytes: number;
  readonly storedBytes: number;
  readonly ggufModels: readonly Omit<GgufModel, "problem">[];
}

async function sizesOf(location: RemoteLocation, store: ModelStore | null): Promise<Sizes> {
  const stored = await store?.find(location);
  const files = stored?.status === "whole" ? await store?.open(location) : null;
  if (stored && files) {
    const model = describeModel(await (await asFolder(files)).readJson(CONFIG_FILE));
    return { model, downloadBytes: 0, storedBytes: stored.totalBytes, ggufModels: [] };
  }
  const http = new HttpClient();
  const remote = await openRemoteFolder(location, http);
  const { config, smallFiles, weights } = await planModel(http, remote, describeModel, asFolder);
  const small = [...smallFiles.values()].reduce((sum, { length }) => sum + length, 0);
  const storedBytes = weights.reduce((sum, { plan }) => sum + plan.size, small);
  const missing = stored ? stored.totalBytes - stored.receivedBytes : storedBytes;
  const ggufModels = location.type === "hub" ? ggufModelsOf(location, remote) : [];
  return { model: describeModel(config), downloadBytes: missing, storedBytes, ggufModels };
}

function ggufModelsOf(location: HubLocation, { files }: RemoteFolder): Sizes["ggufModels"] {
  return ggufModelsIn(files ?? new Map())
    .map(({ file, bytes }) => {
      const quantisation = quantisationOf(file);
      const model = nameOfModel({ ...location, gguf: quantisation ?? file });
      return { model, quantisation, downloadBytes: bytes };
    })
    .filter(({ model }, i, all) => all.findIndex((other) => other.model === model) === i)
    .sort((a, b) => a.downloadBytes - b.downloadBytes);
}

function storageProblem(downloadBytes: number, freeBytes: number | null): ChorusErrorData | null {
  return freeBytes === null || freeBytes >= downloadBytes
    ? null
    : toErrorData(storageFull(`the model (${byteSize(downloadBytes)}, ${byteSize(freeBytes)} are free)`));
}

function noStorage(): ChorusError {
  const why = "This browser stores no files for this page (a private window, or no OPFS), so models can't be stored.";
  return new ChorusError("storage_full", `${why} createEngine still works, but downloads the model each time.`);
}
