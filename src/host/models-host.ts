import { resolveEngineConfig } from "../api/engine-config.ts";
import { openDevice } from "../backends/gpu/device.ts";
import { checkFits, gpt2Memory, type BufferLimits } from "../backends/gpu/gpt2-memory.ts";
import { usualDtype } from "../backends/gpu/usual-dtype.ts";
import { parseGpt2Config, type Gpt2Config } from "../models/gpt2/gpt2-config.ts";
import { countParameters } from "../models/gpt2/gpt2-weights.ts";
import { HttpClient } from "../files/hub/http-client.ts";
import { openRemoteFolder } from "../files/hub/remote-folder.ts";
import { CONFIG_FILE } from "../files/model-folder.ts";
import { ModelStore } from "../files/store/model-store.ts";
import { storageFull } from "../files/store/opfs.ts";
import { planModel } from "../files/store/plan-download.ts";
import type { EngineConfig, ResolvedEngineConfig, WeightsDtype } from "../protocol/config.ts";
import { ChorusError, toErrorData, type ChorusErrorData } from "../protocol/errors.ts";
import type { RemoteLocation } from "../protocol/model-source.ts";
import type { DownloadProgress, ModelEstimate, ModelsService, StoredModel } from "../protocol/models.ts";
import type { Result } from "../protocol/service.ts";

/** The models that this browser keeps: looked at from anywhere, downloaded in a worker. */
export class ModelsHost implements ModelsService {
  readonly #gpu: GPU | undefined;
  readonly #cancel = new AbortController();

  constructor({ gpu }: { gpu: GPU | undefined }) {
    this.#gpu = gpu;
  }

  list(): Promise<Result<StoredModel[]>> {
    return resultOf(async () => (await ModelStore.open())?.list() ?? []);
  }

  delete(location: RemoteLocation): Promise<Result<null>> {
    return resultOf(async () => {
      await (await ModelStore.open())?.delete(location);
      return null;
    });
  }

  download(location: RemoteLocation, onProgress: (progress: DownloadProgress) => void): Promise<Result<StoredModel>> {
    return resultOf(async () => {
      const store = await ModelStore.open();
      if (!store?.canDownload) throw noStorage();
      return store.download(location, { onProgress, signal: this.#cancel.signal });
    });
  }

  cancelDownload(): void {
    this.#cancel.abort();
  }

  estimate(location: RemoteLocation, config: EngineConfig): Promise<Result<ModelEstimate>> {
    return resultOf(() => this.#estimate(location, config));
  }

  async #estimate(location: RemoteLocation, config: EngineConfig): Promise<ModelEstimate> {
    const store = await ModelStore.open();
    const { modelConfig, downloadBytes, storedBytes } = await sizesOf(location, store);
    const opened = await openDevice(this.#gpu).catch(toErrorData);
    if ("device" in opened) opened.device.destroy();
    const engine = resolveEngineConfig(
      config,
      modelConfig,
      "device" in opened ? usualDtype(modelConfig, opened) : "f16",
    );
    const freeBytes = (await store?.freeBytes()) ?? null;
    const { weightBytes, kvCacheBytes } = gpt2Memory(modelConfig, engine);
    const weightsAs = (dtype: WeightsDtype) => gpt2Memory(modelConfig, { ...engine, dtype }).weightBytes;
    return {
      downloadBytes,
      storedBytes,
      freeBytes,
      contextLength: engine.maxModelLen,
      numParameters: countParameters(modelConfig),
      dtype: engine.dtype,
      kvCacheDtype: engine.kvCacheDtype,
      weightBytes,
      weightBytesByDtype: { f32: weightsAs("f32"), f16: weightsAs("f16"), q8: weightsAs("q8"), q4: weightsAs("q4") },
      kvCacheBytes,
      problem:
        ("device" in opened ? misfit(modelConfig, engine, opened.device.limits) : opened) ??
        storageProblem(downloadBytes, freeBytes),
    };
  }
}

/** Why it would not fit an adapter. */
function misfit(model: Gpt2Config, engine: ResolvedEngineConfig, limits: BufferLimits): ChorusErrorData | null {
  try {
    checkFits(model, engine, limits);
    return null;
  } catch (error) {
    return toErrorData(error);
  }
}

interface Sizes {
  readonly modelConfig: Gpt2Config;
  readonly downloadBytes: number;
  readonly storedBytes: number;
}

async function sizesOf(location: RemoteLocation, store: ModelStore | null): Promise<Sizes> {
  const stored = await store?.find(location);
  const files = stored?.status === "whole" ? await store?.open(location) : null;
  if (stored && files) {
    const modelConfig = parseGpt2Config(await files.readJson(CONFIG_FILE));
    return { modelConfig, downloadBytes: 0, storedBytes: stored.totalBytes };
  }
  const http = new HttpClient();
  const { config, smallFiles, weights } = await planModel(http, await openRemoteFolder(location, http));
  const small = [...smallFiles.values()].reduce((sum, { length }) => sum + length, 0);
  const storedBytes = weights.reduce((sum, { plan }) => sum + plan.size, small);
  const missing = stored ? stored.totalBytes - stored.receivedBytes : storedBytes;
  return { modelConfig: config, downloadBytes: missing, storedBytes };
}

function storageProblem(downloadBytes: number, freeBytes: number | null): ChorusErrorData | null {
  return freeBytes === null || freeBytes >= downloadBytes
    ? null
    : toErrorData(storageFull(`the model (${downloadBytes} bytes, ${freeBytes} are free)`));
}

function noStorage(): ChorusError {
  return new ChorusError(
    "storage_full",
    "This browser keeps no files for this page (a private window, or no OPFS), so no model can be stored. createEngine " +
      "still loads models, and downloads them each time.",
  );
}

async function resultOf<T>(task: () => Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await task() };
  } catch (error) {
    return { ok: false, error: toErrorData(error) };
  }
}
