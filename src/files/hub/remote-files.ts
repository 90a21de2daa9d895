// The files of a model's folder on a server, as they are opened.

import { ChorusError } from "../../protocol/errors.ts";
import { hexDigest } from "../hex-digest.ts";
import { joinedBytes } from "../joined-bytes.ts";
import { MAX_SMALL_FILE_BYTES, ModelFiles, tooLarge, type Missing, type OnBytes } from "../model-files.ts";
import { looksLikeWebPage, WEB_PAGE_INSTEAD, whyMissing } from "../web-page.ts";
import { isGguf } from "../gguf/gguf-names.ts";
import { isWeightsFile } from "../model-folder.ts";
import { fetchFile } from "./arriving-file.ts";
import { downloadFailed, readAll, type HttpClient } from "./http-client.ts";
import { RangedFile } from "./ranged-file.ts";
import type { ListedFile, RemoteFolder } from "./remote-folder.ts";

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
  const open = async (file: string) => {
    if (isWeightsFile(file)) {
      if (remote.files?.has(file) === false) return { missing: `There is no ${file} in ${remote.where}.` };
      const request = { ...remote.request(file), takesKept: true };
      return fetchFile(http, request, (done, total) => onBytes?.(file, done, total), signal);
    }
    const bytes = await readSmallFile(http, remote, file, { takesKept: true });
    if ("missing" in bytes) return bytes;
    onBytes?.(file, bytes.length, bytes.length);
    return bytes;
  };
  return new ModelFiles(remote.name, remote.where, open, remote.gguf);
}

/** Vocabularies take megabytes: the header of a GGUF file is longer than this, as a rule. */
const HEADER_BYTES = 2 ** 20;

/** Opens a folder on a server whose weights are in a GGUF file, to read what its header says and no more. */
export function openRemoteHeaders(remote: RemoteFolder, http: HttpClient, signal?: AbortSignal): ModelFiles {
  const open = async (file: string) =>
    isGguf(file)
      ? RangedFile.open(http, { ...remote.request(file), takesKept: true }, { firstBytes: HEADER_BYTES, signal })
      : readSmallFile(http, remote, file, { signal, takesKept: true });
  return new ModelFiles(remote.name, remote.where, open, remote.gguf);
}

/**
 * Reads a small file into memory and checks it against the hub's list. A file is missing if it is not listed, or, without
 * a list, if the server answers with 404 or a web page.
 * @throws ChorusError model_download_failed, model_access_denied, model_invalid
 */
export async function readSmallFile(
  http: HttpClient,
  remote: RemoteFolder,
  file: string,
  options: { signal?: AbortSignal | undefined; takesKept?: boolean } = {},
): Promise<Uint8Array<ArrayBuffer> | Missing> {
  const listed = remote.files?.get(file);
  if (remote.files && !listed) return { missing: `There is no ${file} in ${remote.where}.` };
  if (listed && listed.size > MAX_SMALL_FILE_BYTES) throw tooLarge(file, listed.size);
  const request = remote.request(file);
  const { signal, takesKept = false } = options;
  const { response, bytes } = await readAll(http, { ...request, takesKept }, signal);
  const why = whyMissing(response) ?? (looksLikeWebPage(bytes) ? WEB_PAGE_INSTEAD : null);
  if (why !== null && listed) throw downloadFailed(request.url, file, `${why}, though the hub lists the file`);
  if (why !== null) return { missing: `There is no ${request.url} (${why}).` };
  if (listed && !(await isAsListed(bytes, listed))) throw damaged(request.url, file);
  return bytes;
}

async function isAsListed(bytes: Uint8Array<ArrayBuffer>, { size, sha256, gitSha1 }: ListedFile): Promise<boolean> {
  if (bytes.length !== size) return false;
  if (sha256 !== null) return (await hexDigest("SHA-256", bytes)) === sha256;
  return gitSha1 === null || (await gitBlobHash(bytes)) === gitSha1;
}

/** Returns git's hash of a file: the SHA-1 of "blob ", the length, a zero byte and the contents. */
async function gitBlobHash(bytes: Uint8Array): Promise<string> {
  return hexDigest("SHA-1", joinedBytes([new TextEncoder().encode(`blob ${bytes.length}\0`), bytes]));
}

export function damaged(url: string, file: string): ChorusError {
  const how = "its length or hash differs from the hub's list. It was deleted; download it again";
  return new ChorusError("model_download_failed", `${url} was damaged on its way: ${how}.`, file);
}
