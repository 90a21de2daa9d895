import { ChorusError } from "../../protocol/errors.ts";
import type { RemoteLocation } from "../../protocol/model-source.ts";
import type { DownloadProgress, StoredModel } from "../../protocol/models.ts";
import { HttpClient } from "../hub/http-client.ts";
import { ModelFiles, type OnBytes } from "../model-files.ts";
import { hexDigest } from "../hex-digest.ts";
import { downloadModel } from "./download-model.ts";
import { canWriteFiles, isNotFound, readFile } from "./opfs.ts";
import type { DescribeModel } from "./plan-download.ts";
import { partsOf } from "./part.ts";
import { ReceivedLog } from "./received-log.ts";
import { readManifest, readPlan, totalBytes, withoutToken, type Manifest, type StoredLocation } from "./records.ts";

const FOLDER = "chorus-models";

interface ModelStoreOptions {
  /** Has one folder per model. */
  readonly root: FileSystemDirectoryHandle;
  readonly http: HttpClient;
  readonly describeModel: DescribeModel;
  /** Prevent two tabs from writing one model. */
  readonly locks?: Pick<LockManager, "request"> | undefined;
  readonly freeBytes?: () => Promise<number | null>;
}

interface DownloadOptions {
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The models that this browser stores for this origin. Pages can read them; only workers can download. */
export class ModelStore {
  readonly canDownload: boolean;
  readonly #root: FileSystemDirectoryHandle;
  readonly #http: HttpClient;
  readonly #describeModel: DescribeModel;
  readonly #locks: Pick<LockManager, "request"> | undefined;
  readonly #freeBytes: () => Promise<number | null>;

  constructor(
    { root, http, describeModel, locks, freeBytes = () => Promise.resolve(null) }: ModelStoreOptions,
    canDownload = true,
  ) {
    this.#root = root;
    this.#http = http;
    this.#describeModel = describeModel;
    this.#locks = locks;
    this.#freeBytes = freeBytes;
    this.canDownload = canDownload;
  }

  /** Opens the origin's store; null without OPFS (in Node and in some browsers' private windows). */
  static async open(describeModel: DescribeModel, http = new HttpClient()): Promise<ModelStore | null> {
    const storage = globalThis.navigator?.storage;
    if (storage?.getDirectory === undefined) return null;
    try {
      const root = await (await storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
      return new ModelStore(
        { root, http, describeModel, locks: navigator.locks, freeBytes: freeStorageBytes },
        canWriteFiles(),
      );
    } catch {
      return null;
    }
  }

  /** Returns how many more bytes the browser lets this origin store; null if it doesn't say. */
  freeBytes(): Promise<number | null> {
    return this.#freeBytes();
  }

  async list(): Promise<StoredModel[]> {
    const models: StoredModel[] = [];
    for await (const handle of this.#root.values()) {
      const model = handle.kind === "directory" ? await describe(handle) : undefined;
      if (model) models.push(model);
    }
    return models.sort((a, b) => a.model.localeCompare(b.model) || (a.revision ?? "").localeCompare(b.revision ?? ""));
  }

  async find(location: RemoteLocation): Promise<StoredModel | undefined> {
    const folder = await this.#folder(location);
    return folder && describe(folder);
  }

  /** Opens a complete model; null for any other. */
  async open(location: RemoteLocation, onBytes?: OnBytes): Promise<ModelFiles | null> {
    const folder = await this.#folder(location);
    const manifest = folder && (await wholeManifest(folder));
    if (!folder || !manifest) return null;
    const where = `the stored copy of ${location.type === "hub" ? location.id : location.url}`;
    return new ModelFiles(manifest.name, where, async (file) => {
      const stored = await readFile(folder, file);
      if (stored) onBytes?.(file, stored.size, stored.size);
      return stored ?? { missing: `There is no ${file} in ${where}.` };
    });
  }

  /**
   * Downloads the missing bytes of a model and resolves when it is complete. Calls for the same model run one after
   * the other, in all tabs. An abort keeps the received bytes.
   * @throws ChorusError model_*, storage_full; the signal's reason
   */
  async download(location: RemoteLocation, options: DownloadOptions = {}): Promise<StoredModel> {
    const signal = options.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    return this.#locked(location, { signal }, async () => {
      const folder = await this.#root.getDirectoryHandle(await keyOf(location), { create: true });
      const manifest =
        (await wholeManifest(folder)) ??
        (await downloadModel({
          http: this.#http,
          describe: this.#describeModel,
          folder,
          location,
          freeBytes: this.#freeBytes,
          onProgress: options.onProgress ?? (() => undefined),
          signal,
        }));
      return describeWhole(manifest);
    });
  }

  /** Deletes a model, complete or not. Does nothing if there is none. @throws ChorusError model_in_use */
  async delete(location: RemoteLocation): Promise<void> {
    await this.#locked(location, { ifAvailable: true }, async (lock) => {
      if (!lock) throw inUse(location);
      try {
        await this.#root.removeEntry(await keyOf(location), { recursive: true });
      } catch (error) {
        if (isNotFound(error)) return;
        if (error instanceof DOMException && error.name === "NoModificationAllowedError") throw inUse(location);
        throw error;
      }
    });
  }

  async #folder(location: RemoteLocation): Promise<FileSystemDirectoryHandle | undefined> {
    try {
      return await this.#root.getDirectoryHandle(await keyOf(location));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  async #locked<T>(location: RemoteLocation, options: LockOptions, task: (lock: unknown) => Promise<T>): Promise<T> {
    if (!this.#locks) return task(true);
    return (await this.#locks.request(`${FOLDER}/${await keyOf(location)}`, options, task)) as T;
  }
}

/** Returns a folder name that is valid on every file system, whatever the URL contains. */
async function keyOf(location: RemoteLocation): Promise<string> {
  const text = new TextEncoder().encode(JSON.stringify(withoutToken(location)));
  return (await hexDigest("SHA-256", text)).slice(0, 32);
}

function inUse(location: RemoteLocation): ChorusError {
  const name = location.type === "hub" ? location.id : location.url;
  return new ChorusError(
    "model_in_use",
    `${name} is being downloaded: cancel the download first, then delete it.`,
    "model",
  );
}

/** Returns a folder's manifest if all its files exist with the sizes it lists. */
async function wholeManifest(folder: FileSystemDirectoryHandle): Promise<Manifest | undefined> {
  const manifest = await readManifest(folder);
  if (!manifest) return undefined;
  for (const { name, size } of manifest.files) if ((await readFile(folder, name))?.size !== size) return undefined;
  return manifest;
}

async function describe(folder: FileSystemDirectoryHandle): Promise<StoredModel | undefined> {
  const manifest = await wholeManifest(folder);
  if (manifest) return describeWhole(manifest);
  const plan = await readPlan(folder);
  if (!plan) return undefined;
  const total = totalBytes(plan) + totalBytes({ files: plan.weights });
  const parts = partsOf(plan.weights, await ReceivedLog.read(folder));
  const missing = parts.reduce((sum, { length, received }) => sum + length - received, 0);
  return {
    ...sourceOf(plan.location),
    commit: plan.commit,
    status: "partial",
    receivedBytes: total - missing,
    totalBytes: total,
  };
}

function describeWhole(manifest: Manifest): StoredModel {
  const bytes = totalBytes(manifest);
  return {
    ...sourceOf(manifest.location),
    commit: manifest.commit,
    status: "whole",
    receivedBytes: bytes,
    totalBytes: bytes,
  };
}

function sourceOf(location: StoredLocation): Pick<StoredModel, "model" | "revision" | "hubUrl"> {
  return location.type === "folder"
    ? { model: location.url, revision: null, hubUrl: null }
    : { model: location.id, revision: location.revision, hubUrl: location.hubUrl };
}

async function freeStorageBytes(): Promise<number | null> {
  const { quota, usage } = await navigator.storage.estimate();
  return quota === undefined || usage === undefined ? null : Math.max(0, quota - usage);
}
