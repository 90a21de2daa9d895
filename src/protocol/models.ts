// The models a browser keeps: what the library's `models` tells of them.

import type { EngineConfig, KvCacheDtype, WeightsDtype } from "./config.ts";
import type { ChorusErrorData } from "./errors.ts";
import type { RemoteLocation } from "./model-source.ts";
import type { Result } from "./service.ts";

/** A model that is kept, or of which a part has arrived. */
export interface StoredModel {
  /** "owner/name", or the URL of a folder: what createEngine takes as `model`. */
  readonly model: string;
  /** Of a hub model. */
  readonly revision: string | null;
  /** Of a hub model. */
  readonly hubUrl: string | null;
  /** The commit that was downloaded; null where there are none. */
  readonly commit: string | null;
  /** "partial": a download was interrupted; downloading again goes on where it stopped. */
  readonly status: "whole" | "partial";
  readonly receivedBytes: number;
  readonly totalBytes: number;
}

export interface DownloadProgress {
  readonly receivedBytes: number;
  readonly totalBytes: number;
  /** Over the last seconds; null until enough has been seen to tell. */
  readonly bytesPerSecond: number | null;
  readonly secondsLeft: number | null;
}

/** What a model takes, found out without downloading its weights. */
export interface ModelEstimate {
  /** Bytes to download, as much as is not there yet. */
  readonly downloadBytes: number;
  /** Bytes it takes in the browser's storage. */
  readonly storedBytes: number;
  /** Bytes that may still be stored; null where the browser doesn't say. */
  readonly freeBytes: number | null;
  readonly contextLength: number;
  readonly numParameters: number;
  readonly dtype: WeightsDtype;
  readonly kvCacheDtype: KvCacheDtype;
  /** On the GPU. */
  readonly weightBytes: number;
  /** What the weights would take as each dtype, on the GPU. */
  readonly weightBytesByDtype: Readonly<Record<WeightsDtype, number>>;
  /** On the GPU. */
  readonly kvCacheBytes: number;
  /** Why it would not run here, with what would do; null where it should. */
  readonly problem: ChorusErrorData | null;
}

/** The contract between the page and the side that keeps models (host/models-host.ts). Plain data only. */
export interface ModelsService {
  list(): Promise<Result<StoredModel[]>>;
  delete(location: RemoteLocation): Promise<Result<null>>;
  estimate(location: RemoteLocation, config: EngineConfig): Promise<Result<ModelEstimate>>;
  /** Ends when the model is kept whole, or with cancelDownload(): then what has arrived stays. */
  download(location: RemoteLocation, onProgress: (progress: DownloadProgress) => void): Promise<Result<StoredModel>>;
  cancelDownload(): void;
}
