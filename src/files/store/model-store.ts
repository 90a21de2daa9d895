import { ChorusError } from "../../protocol/errors.ts";
import { nameOfModel, type RemoteLocation } from "../../protocol/model-source.ts";
import type { DownloadProgress, StoredModel } from "../../protocol/models.ts";
import { HttpClient } from "../hub/http-client.ts";
import { isGguf } from "../gguf/gguf-names.ts";
import { openRemoteFolder } from "../hub/remote-folder.ts";
import { ModelFiles, type OnBytes } from "../model-files.ts";
import { hexDigest } from "../hex-digest.ts";
import { canWriteFiles, readFile, remove, undefinedIfMissing } from "./opfs.ts";
import type { AsFolder, DescribeModel } from "./plan-download.ts";
import { partsSoFar } from "./received-log.ts";
import {
  readManifest,
  readPlan,
  totalBytes,
  writeRecord,
  type Manifest,
  type Stored,
  type StoredLocation,
} from "./records.ts";

const FOLDER = "chorus-models";

interface ModelStoreOptions {
  /** Has one folder per model. */
  readonly root: FileSystemDirectoryHandle;
  readonly http: HttpClient;
  readonly describeModel: DescribeModel;
  readonly asFolder: AsFolder;
  /** Prevent two tabs from writing one model. */
  readonly locks?: Pick<LockManager, "request"> | undefined;
  /** [nobody says] */
  readonly freeBytes?: () => Promise<number | null>;
}

interface DownloadOptions {
  readonly onProgress?: ((progress: DownloadProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The models that this browser stores for this origin. Pages can read them; only workers can download. */
export class ModelStore {
  readonly canDownload: boolean;
  readonly #options: ModelStoreOptions;

  constructor(options: ModelStoreOptions, canDownload = true) {
    this.#options = options;
    this.canDownload = canDownload;
  }

  /** Opens the origin's store; null without OPFS (in Node and in some browsers' private windows). */
  static async open(
    models: Pick<ModelStoreOptions, "describeModel" | "asFolder">,
    http = new HttpClient(),
  ): Promise<ModelStore | null> {
    const storage = globalThis.navigator?.storage;
    if (storage?.getDirectory === undefined) return null;
    try {
      const root = await (await storage.getDirectory()).getDirectoryHandle(FOLDER, { create: true });
      return new ModelStore(
        { ...models, root, http, locks: navigator.locks, freeBytes: freeStorageBytes },
        canWriteFiles(),
      );
    } catch {
      return null;
    }
  }

  freeBytes(): Promise<number | null> {
    return this.#options.freeBytes?.() ?? Promise.resolve(null);
  }

  async list(): Promise<StoredModel[]> {
    const models: StoredModel[] = [];
    for await (const handle of this.#options.root.values()) {
      const model = handle.kind === "directory" ? await describe(handle) : undefined;
      if (model) models.push(model);
    }
    return models.sort((a, b) => a.model.localeCompare(b.model) || (a.revision ?? "").localeCompare(b.revision ?? ""));
  }

  async find(location: RemoteLocation): Promise<StoredModel | undefined> {
    const { key } = await entryOf(location);
    const folder = await this.#folder(key);
    return folder && describe(folder);
  }

  /** Opens a complete model; null for any other. */
  async open(location: RemoteLocation, onBytes?: OnBytes): Promise<ModelFiles | null> {
    const { key, model } = await entryOf(location);
    const folder = await this.#folder(key);
    const manifest = folder && (await wholeManifest(folder));
    if (!folder || !manifest) return null;
    const where = `the stored copy of ${model}`;
    const open = async (file: string) => {
      const stored = await readFile(folder, file);
      if (stored) onBytes?.(file, stored.size, stored.size);
      return stored ?? { missing: `There is no ${file} in ${where}.` };
    };
    const gguf = manifest.files.find(({ name }) => isGguf(name))?.name ?? null;
    return new ModelFiles(manifest.name, where, open, gguf);
  }

  /**
   * Downloads the missing bytes of a model and resolves when it is complete. Calls for the same model run one after
   * the other, in all tabs. An abort keeps the received bytes.
   * @throws ChorusError model_*, storage_full; the signal's reason
   */
  async download(location: RemoteLocation, options: DownloadOptions = {}): Promise<StoredModel> {
    const signal = options.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    const { key, model, origin } = await entryOf(location);
    return this.#locked(key, { signal }, async () => {
      const folder = await this.#options.root.getDirectoryHandle(key, { create: true });
      const { downloadModel } = await import("./download-model.ts"); // no part of the first visit
      const manifest =
        (await wholeManifest(folder)) ??
        (await downloadModel({
          ...this.#options,
          folder,
          model,
          openRemote: (commit) => openRemoteFolder(location, this.#options.http, { signal, commit }),
          writeRecord: (name, record) => writeRecord(folder, name, { location: origin, ...record }),
          freeBytes: () => this.freeBytes(),
          onProgress: options.onProgress ?? (() => undefined),
          signal,
        }));
      return describeWhole({ location: origin, ...manifest });
    });
  }

  /** Deletes a model, complete or not. Does nothing if there is none. @throws ChorusError model_in_use */
  async delete(location: RemoteLocation): Promise<void> {
    const { key, model } = await entryOf(location);
    await this.#locked(key, { ifAvailable: true }, async (lock) => {
      if (!lock) throw inUse(model);
      await remove(this.#options.root, key).catch((error: unknown) => {
        const isOpen = error instanceof DOMException && error.name === "NoModificationAllowedError";
        throw isOpen ? inUse(model) : error;
      });
    });
  }

  #folder(key: string): Promise<FileSystemDirectoryHandle | undefined> {
    return this.#options.root.getDirectoryHandle(key).catch(undefinedIfMissing);
  }

  async #locked<T>(key: string, options: LockOptions, task: (lock: unknown) => Promise<T>): Promise<T> {
    const { locks } = this.#options;
    return locks ? ((await locks.request(`${FOLDER}/${key}`, options, task)) as T) : task(true);
  }
}

/** Returns a model's folder, whose name is valid on every file system, and its name in error messages. */
async function entryOf(location: RemoteLocation) {
  const origin = withoutToken(location);
  const key = (await hexDigest("SHA-256", new TextEncoder().encode(JSON.stringify(origin)))).slice(0, 32);
  return { key, model: nameOfModel(origin), origin };
}

function withoutToken(location: RemoteLocation): StoredLocation {
  const { gguf } = location;
  const file = gguf === undefined ? {} : { gguf };
  if (location.type === "folder") return { type: "folder", url: location.url, ...file };
  const { id, revision, hubUrl } = location;
  return { type: "hub", id, revision, hubUrl, ...file };
}

function inUse(name: string): ChorusError {
  const message = `${name} is being downloaded: cancel the download first, then delete it.`;
  return new ChorusError("model_in_use", message, "model");
}

/** Returns a folder's manifest if all its files exist with the sizes it lists. */
async function wholeManifest(folder: FileSystemDirectoryHandle): Promise<Stored<Manifest> | undefined> {
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
  const { sizes } = await partsSoFar(folder, plan);
  return { ...sourceOf(plan), status: "partial", ...sizes };
}

function describeWhole(manifest: Stored<Manifest>): StoredModel {
  const bytes = totalBytes(manifest);
  return { ...sourceOf(manifest), status: "whole", receivedBytes: bytes, totalBytes: bytes };
}

function sourceOf({ location, commit }: Stored<Manifest>) {
  const { revision, hubUrl } = location.type === "hub" ? location : { revision: null, hubUrl: null };
  return { model: nameOfModel(location), revision, hubUrl, commit };
}

async function freeStorageBytes(): Promise<number | null> {
  const { quota, usage } = await navigator.storage.estimate();
  return quota === undefined || usage === undefined ? null : Math.max(0, quota - usage);
}
