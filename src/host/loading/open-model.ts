// Opens a model's files: given by the user, stored by this browser, or on a server.

import { HttpClient } from "../../files/hub/http-client.ts";
import { openRemoteFolder } from "../../files/hub/remote-folder.ts";
import { openFileList, openRemoteFiles, type ModelFiles } from "../../files/model-files.ts";
import { TOKENIZER_FILE } from "../../files/model-folder.ts";
import type { ModelLocation } from "../../protocol/model-source.ts";
import type { LoadProgress } from "../../protocol/reports.ts";
import type { Platform } from "../platforms/platform.ts";

interface OpenedModel {
  /** For reading the config before anything large is fetched. */
  readonly files: ModelFiles;
  /** Returns all files. First downloads a hub's model into the store. */
  readonly fetchFiles: () => Promise<ModelFiles>;
}

/**
 * Opens a stored model from the store. Models of the hub are stored when they are fetched; folders by URL are not.
 * @param signal ends a download; what is stored of it is kept
 * @throws ChorusError model_*, storage_full
 */
export async function openModel(
  location: ModelLocation,
  { openModelStore }: Pick<Platform, "openModelStore">,
  onProgress: (progress: LoadProgress) => void,
  signal?: AbortSignal,
): Promise<OpenedModel> {
  let last: LoadProgress = { stage: "weights", done: 0, total: 0 };
  const notify = (progress: LoadProgress) => {
    last = progress;
    onProgress(progress);
  };
  const onBytes = (file: string, done: number, total: number | null) => {
    if (file.endsWith(".safetensors")) notify({ stage: "weights", done, total: total ?? done });
    if (file === TOKENIZER_FILE) notify({ stage: "tokenizer", done, total: total ?? done });
  };
  if (location.type === "files") return atHand(openFileList(location.files, onBytes));
  const http = new HttpClient({ onWaiting: () => onProgress({ ...last, isWaiting: true }) });
  const store = await openModelStore(http);
  const stored = await store?.open(location, onBytes);
  if (stored) return atHand(stored);

  const remote = await openRemoteFolder(location, http);
  const files = openRemoteFiles(remote, http, onBytes, signal);
  if (location.type === "folder" || !store?.canDownload) return atHand(files);
  return {
    files,
    fetchFiles: async () => {
      await store.download(location, {
        ...(signal && { signal }),
        onProgress: ({ receivedBytes, totalBytes }) =>
          notify({ stage: "weights", done: receivedBytes, total: totalBytes }),
      });
      return (await store.open(location, onBytes)) ?? files;
    },
  };
}

function atHand(files: ModelFiles): OpenedModel {
  return { files, fetchFiles: () => Promise.resolve(files) };
}
