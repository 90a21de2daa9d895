import { HttpClient } from "../../files/hub/http-client.ts";
import { openRemoteFiles, openRemoteHeaders } from "../../files/hub/remote-files.ts";
import { openRemoteFolder } from "../../files/hub/remote-folder.ts";
import { openFileList, type ModelFiles } from "../../files/model-files.ts";
import { isWeightsFile, TOKENIZER_FILE } from "../../files/model-folder.ts";
import { CHAT_FRAMES, type ChatFrame } from "../../protocol/chat-frames.ts";
import type { ModelSource } from "../../protocol/config.ts";
import { locateModel, type ModelLocation } from "../../protocol/model-source.ts";
import type { DownloadProgress } from "../../protocol/models.ts";
import type { LoadProgress } from "../../protocol/reports.ts";
import { asFolder } from "./gguf-as-folder.ts";
import type { Platform } from "../platforms/platform.ts";

interface OpenedModel {
  /** For reading the config before anything large is fetched. */
  readonly files: ModelFiles;
  /** Returns all files. First downloads a hub's model into the store. */
  readonly fetchFiles: () => Promise<ModelFiles>;
}

/** Where a model is loaded from: the user's files, this browser's store, or a server. What loads it knows no locations. */
export class ModelOrigin {
  readonly #location: ModelLocation;
  readonly #platform: Pick<Platform, "openModelStore">;

  constructor(location: ModelLocation, platform: Pick<Platform, "openModelStore">) {
    this.#location = location;
    this.#platform = platform;
  }

  /** How chats with this model are framed, if it has no template; null: as with any model. */
  get chatFrame(): ChatFrame | null {
    const location = this.#location;
    return (location.type === "hub" ? CHAT_FRAMES[location.id] : null) ?? null;
  }

  /** Returns another model's origin: a hub id names a model of the same hub. @throws ChorusError as locateModel does */
  beside(model: ModelSource): ModelOrigin {
    const { hubUrl, token } = this.#location.type === "hub" ? this.#location : {};
    return new ModelOrigin(locateModel(model, { hubUrl, token: token ?? undefined }), this.#platform);
  }

  /**
   * Opens a stored model from the store. Models of the hub are stored when they are fetched; folders by URL are not.
   * @param signal ends a download; what is stored of it is kept
   * @throws ChorusError model_*, storage_full
   */
  async open(onProgress: (progress: LoadProgress) => void, signal: AbortSignal): Promise<OpenedModel> {
    const location = this.#location;
    let last: LoadProgress = { stage: "weights", done: 0, total: 0 };
    const notify = (progress: LoadProgress) => {
      last = progress;
      onProgress(progress);
    };
    const onBytes = (file: string, done: number, total: number | null) => {
      if (isWeightsFile(file)) notify({ stage: "weights", done, total: total ?? done });
      if (file === TOKENIZER_FILE) notify({ stage: "tokenizer", done, total: total ?? done });
    };
    if (location.type === "files") return atHand(await asFolder(openFileList(location.files, onBytes)));
    const http = new HttpClient({ onWaiting: () => onProgress({ ...last, isWaiting: true }) });
    const store = await this.#platform.openModelStore(http);
    const stored = await store?.open(location, onBytes);
    if (stored) return atHand(await asFolder(stored));

    const remote = await openRemoteFolder(location, http);
    const files = await asFolder(openRemoteFiles(remote, http, onBytes, signal));
    const headers = remote.gguf === null ? files : await asFolder(openRemoteHeaders(remote, http, signal));
    if (location.type === "folder" || !store?.canDownload) return { files: headers, fetchFiles: async () => files };
    return {
      files: headers,
      fetchFiles: async () => {
        const report = ({ receivedBytes, totalBytes }: DownloadProgress) =>
          notify({ stage: "weights", done: receivedBytes, total: totalBytes });
        await store.download(location, { signal, onProgress: report });
        const downloaded = await store.open(location, onBytes);
        return downloaded ? asFolder(downloaded) : files;
      },
    };
  }
}

function atHand(files: ModelFiles): OpenedModel {
  return { files, fetchFiles: () => Promise.resolve(files) };
}
