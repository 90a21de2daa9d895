// A model's folder: stored by this browser, on a server, or given by the user.

import { ChorusError } from "../protocol/errors.ts";
import { ArrivingFile, fetchFile } from "./hub/arriving-file.ts";
import type { HttpClient } from "./hub/http-client.ts";
import { MAX_SMALL_FILE_BYTES, tooLarge } from "./hub/read-all.ts";
import type { RemoteFolder } from "./hub/remote-folder.ts";
import { readSmallFile, type Missing } from "./hub/small-file.ts";
import { parseJsonFile } from "./model-folder.ts";
import { looksLikeWebPage } from "./web-page.ts";

/** Called as bytes of a file arrive. `totalBytes` is null if the server does not give the file's length. */
export type OnBytes = (file: string, doneBytes: number, totalBytes: number | null) => void;

type Bytes = Uint8Array<ArrayBuffer>;
/** A small file from a server is opened as bytes: reading a Blob would wait for the browser. */
type Opened = Blob | Bytes | ArrivingFile;
type OpenFile = (file: string) => Promise<Opened | Missing>;

export class ModelFiles {
  /** The folder's name. */
  readonly name: string;
  /** The folder's description in error messages. */
  readonly where: string;
  readonly #open: OpenFile;

  constructor(name: string, where: string, open: OpenFile) {
    this.name = name;
    this.where = where;
    this.#open = open;
  }

  /** Opens a file of any size, to be read in pieces. @throws ChorusError model_not_found; the folder's own errors */
  async open(file: string): Promise<Blob> {
    return wholeOf(await this.#there(file));
  }

  /** Like `open`, but returns undefined if the file does not exist. */
  async tryOpen(file: string): Promise<Blob | undefined> {
    const opened = await this.#open(file);
    return "missing" in opened ? undefined : wholeOf(opened);
  }

  /** Like `tryOpen`, but a file on a server may still be arriving: reads wait for their bytes. */
  async tryOpenEarly(file: string): Promise<Blob | ArrivingFile | undefined> {
    const opened = await this.#open(file);
    if ("missing" in opened) return undefined;
    return opened instanceof ArrivingFile ? opened : wholeOf(opened);
  }

  /** @throws ChorusError as open does; model_invalid if the file is not JSON */
  async readJson(file: string): Promise<unknown> {
    return parseJsonFile(file, this.where, await bytesOf(file, await this.#there(file)));
  }

  /** Returns undefined if the file does not exist. @throws ChorusError model_invalid if it is a web page */
  async tryReadText(file: string): Promise<string | undefined> {
    const opened = await this.#open(file);
    if ("missing" in opened) return undefined;
    const bytes = await bytesOf(file, opened);
    if (looksLikeWebPage(bytes))
      throw new ChorusError("model_invalid", `${file} in ${this.where} looks like a web page.`, file);
    return new TextDecoder().decode(bytes);
  }

  /** Returns undefined if the file does not exist. */
  async tryReadJson(file: string): Promise<unknown> {
    const opened = await this.#open(file);
    return "missing" in opened ? undefined : parseJsonFile(file, this.where, await bytesOf(file, opened));
  }

  async #there(file: string): Promise<Opened> {
    const opened = await this.#open(file);
    if ("missing" in opened) throw new ChorusError("model_not_found", opened.missing, file);
    return opened;
  }
}

/** Returns a file once it is complete. @throws ChorusError model_download_failed, model_access_denied */
async function wholeOf(file: Opened): Promise<Blob> {
  if (file instanceof ArrivingFile) return file.whole();
  return file instanceof Uint8Array ? new Blob([file]) : file;
}

/** Reads a small file into memory. */
async function bytesOf(file: string, opened: Opened): Promise<Uint8Array> {
  if (opened instanceof Uint8Array) return opened;
  const blob = await wholeOf(opened);
  if (blob.size > MAX_SMALL_FILE_BYTES) throw tooLarge(file, blob.size);
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    const message = `${file} could not be read from disk: ${String(cause)}`;
    throw new ChorusError("model_download_failed", message, file, { cause });
  }
}

/** Opens files that the user chose. If several have the same name, the one nearest the top folder is used. */
export function openFileList(files: readonly File[], onBytes?: OnBytes): ModelFiles {
  const paths = files
    .map((file) => ({ file, path: (file.webkitRelativePath || file.name).split("/") }))
    .sort((a, b) => a.path.length - b.path.length);
  const name = paths.find(({ path }) => path.length > 1)?.path.at(-2) ?? "model";
  return new ModelFiles(name, "the files you chose", (fileName) => {
    const file = paths.find(({ path }) => path.at(-1) === fileName)?.file;
    if (file) onBytes?.(fileName, file.size, file.size);
    return Promise.resolve(file ?? { missing: `There is no ${fileName} ${among(files.length)}.` });
  });
}

function among(numFiles: number): string {
  return numFiles === 1 ? "in the file you chose" : `among the ${numFiles} files you chose`;
}

/**
 * Opens a folder on a server. Each file is fetched when it is opened; only the browser's HTTP cache keeps it, for
 * when the server is out of reach.
 * @param signal ends the download of weights
 */
export function openRemoteFiles(
  remote: RemoteFolder,
  http: HttpClient,
  onBytes?: OnBytes,
  signal?: AbortSignal,
): ModelFiles {
  return new ModelFiles(remote.name, remote.where, async (file) => {
    if (file.endsWith(".safetensors")) {
      if (remote.files?.has(file) === false) return { missing: `There is no ${file} in ${remote.where}.` };
      const request = { ...remote.request(file), takesKept: true };
      return fetchFile(http, request, (done, total) => onBytes?.(file, done, total), signal);
    }
    const bytes = await readSmallFile(http, remote, file, { takesKept: true });
    if ("missing" in bytes) return bytes;
    onBytes?.(file, bytes.length, bytes.length);
    return bytes;
  });
}
