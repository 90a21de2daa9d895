// The models that a browser keeps, as the library's `models` reports them.

import type { EngineConfig, KvCacheDtype, WeightsDtype } from "./config.ts";
import type { ChorusErrorData } from "./errors.ts";
import type { RemoteLocation } from "./model-source.ts";

/** A model that is kept, completely or in part. */
export interface StoredModel {
  /** "owner/name", or the URL of a folder: what createEngine takes as `model`. */
  readonly model: string;
  /** Of a hub model. */
  readonly revision: string | null;
  /** Of a hub model. */
  readonly hubUrl: string | null;
  /** The commit that was downloaded; null where there are none. */
  readonly commit: string | null;
  /** "partial": a download was interrupted; downloading again resumes it. */
  readonly status: "whole" | "partial";
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

export interface DownloadProgress {
  readonly receivedBytes: number;
  readonly totalBytes: number;
  /** Average over the last seconds; null at first. */
  readonly bytesPerSecond: number | null;
  readonly secondsLeft: number | null;
  /** Whether nothing has arrived for some seconds. */
  readonly isWaiting: boolean;
}

/** What a model needs, found out without downloading its weights. */
export interface ModelEstimate {
  /** Bytes that are still to be downloaded. */
  readonly downloadBytes: number;
  /** Bytes it takes in the browser's storage. */
  readonly storedBytes: number;
  /** Bytes of free storage; null if the browser doesn't say. */
  readonly freeBytes: number | null;
  readonly contextLength: number;
  readonly numParameters: number;
  readonly dtype: WeightsDtype;
  readonly kvCacheDtype: KvCacheDtype;
  /** On the GPU. */
  readonly weightBytes: number;
  /** Bytes of the weights on the GPU for each dtype that the model can have. */
  readonly weightBytesByDtype: Readonly<Partial<Record<WeightsDtype, number>>>;
  /** The types in which its file packs the weights, with their shares: "Q4_K 64%, Q6_K 36%". Null: it doesn't. */
  readonly mixture: string | null;
  /** On the GPU. */
  readonly kvCacheBytes: number;
  /** The GGUF models of the hub's repository, smallest first; none where its files are not known, as for a stored model. */
  readonly ggufModels: readonly GgufModel[];
  /** Why the model can't run here and what would help; null if it should run. */
  readonly problem: ChorusErrorData | null;
}

/** A GGUF file of a repository. */
export interface GgufModel {
  /** What createEngine takes as `model`. */
  readonly model: string;
  /** "Q4_K_M"; null if the file's name says nothing. */
  readonly quantisation: string | null;
  readonly downloadBytes: number;
  /** Why it can't run here, by the type that its name says; null if it should run. */
  readonly problem: ChorusErrorData | null;
}

/** The contract between the page and the side that keeps models (host/models-host.ts). Plain data only. */
export interface ModelsService {
  list(): Promise<StoredModel[]>;
  delete(location: RemoteLocation): Promise<void>;
  estimate(location: RemoteLocation, config: EngineConfig): Promise<ModelEstimate>;
  /** Resolves when the model is complete, or after cancelDownload(), which keeps the part that has arrived. */
  download(location: RemoteLocation, onProgress: (progress: DownloadProgress) => void): Promise<StoredModel>;
  cancelDownload(): void;
}
