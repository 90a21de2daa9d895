// A model's folder on a server: a hub repository, pinned to a commit and with a list of its files, or any URL.

import { parseJson } from "../../protocol/bounded-data.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { HubLocation, RemoteLocation } from "../../protocol/model-source.ts";
import { isObject } from "../../protocol/json-object.ts";
import { chooseGguf, isGguf } from "../gguf/gguf-names.ts";
import { foreignWeights } from "../model-folder.ts";
import { isWebPage } from "../web-page.ts";
import { A_FOLDER, downloadFailed, readAll, type HttpClient, type HttpRequest } from "./http-client.ts";

/** A file in the hub's list. */
export interface ListedFile {
  readonly size: number;
  /** Hash of the contents, in hexadecimal; null for small files, which have a git hash instead. */
  readonly sha256: string | null;
  /** SHA-1 of git's blob; null for large files. */
  readonly gitSha1: string | null;
}

export interface RemoteFolder {
  readonly name: string;
  /** The folder's description in error messages. */
  readonly where: string;
  /** The commit that `request` reads from; null if the folder has none. */
  readonly commit: string | null;
  /** null if the server gives no list. */
  readonly files: ReadonlyMap<string, ListedFile> | null;
  /** The GGUF file that has the weights; null if they are in safetensors. */
  readonly gguf: string | null;
  request(file: string): HttpRequest;
}

/** @param commit the hub's commit to read from, instead of the revision's newest */
export async function openRemoteFolder(
  location: RemoteLocation,
  http: HttpClient,
  options: { signal?: AbortSignal | undefined; commit?: string | null } = {},
): Promise<RemoteFolder> {
  if (location.type === "hub")
    return openRepository(location, http, options.commit ?? location.revision, options.signal);
  const folder = new URL(location.url);
  return {
    name: folder.pathname.split("/").at(-2) || folder.hostname,
    where: folder.href,
    commit: null,
    files: null,
    gguf: location.gguf ?? null,
    request(file) {
      const url = new URL(folder);
      url.pathname += file.replace(/[%/\\]/g, encodeURIComponent); // the rest is written as in any path
      return { url: url.href, headers: {}, file };
    },
  };
}

async function openRepository(
  location: HubLocation,
  http: HttpClient,
  revision: string,
  signal: AbortSignal | undefined,
): Promise<RemoteFolder> {
  const { id, hubUrl, token } = location;
  const headers: Record<string, string> = token === null ? {} : { Authorization: `Bearer ${token}` };
  const listing = await readListing(location, headers, http, revision, signal);
  const commit = listing?.commit ?? null;
  const where = `${id}${revision === "main" ? "" : ` at ${revision}`} on ${new URL(hubUrl).host}`;
  const listed = listing?.files ?? null;
  const requested = location.gguf ?? null;
  if (!listed && requested !== null && !isGguf(requested)) {
    const message = `${new URL(hubUrl).host} doesn't list the files of ${id}: name the one that you want, "${id}/FILE.gguf".`;
    throw new ChorusError("model_not_found", message, "model");
  }
  const path = listed ? chooseGguf(listed, requested, where) : requested;
  // A file may lie in a folder of the repository. It is known by its name.
  const [folder, gguf] =
    path === null ? ["", null] : [path.slice(0, path.lastIndexOf("/") + 1), path.split("/").at(-1) ?? path];
  const foreign = foreignWeights([...(listed?.keys() ?? [])]);
  if (foreign !== null) {
    const others = 'Another revision may have them, too (the hub\'s converted ones are in "refs/pr/...").';
    const message = `There is no model.safetensors in ${where}: ${foreign} ${others}`;
    throw new ChorusError("model_not_found", message, "model");
  }
  return {
    name: id.split("/").at(-1) ?? id,
    where,
    commit,
    files: listed && filesIn(folder, listed),
    gguf,
    request: (file) => ({
      url: `${hubUrl}/${id}/resolve/${encodeURIComponent(commit ?? revision)}/${pathOf(isGguf(file) ? folder : "", file)}`,
      headers,
      file,
      hubId: id,
    }),
  };
}

function pathOf(folder: string, file: string): string {
  return `${folder}${file}`.split("/").map(encodeURIComponent).join("/");
}

/** Returns a repository's files, those of one folder by their names alone. */
function filesIn(folder: string, listed: ReadonlyMap<string, ListedFile>): ReadonlyMap<string, ListedFile> {
  const inside = [...listed].filter(([path]) => folder !== "" && path.startsWith(folder) && isGguf(path));
  return new Map([...listed, ...inside.map(([path, file]) => [path.slice(folder.length), file] as const)]);
}

/** Returns null for a mirror that serves the files but no API. */
async function readListing(
  { id, hubUrl }: HubLocation,
  headers: Record<string, string>,
  http: HttpClient,
  revision: string,
  signal: AbortSignal | undefined,
): Promise<{ commit: string; files: Map<string, ListedFile> } | null> {
  const url = `${hubUrl}/api/models/${id}/revision/${encodeURIComponent(revision)}?blobs=true`;
  const request = { url, headers, file: "model", hubId: id, takesKept: true };
  const { response, bytes } = await readAll(http, request, signal);
  const errorCode = response.headers.get("x-error-code");
  if (errorCode === "RepoNotFound" || errorCode === "RevisionNotFound") {
    const what = errorCode === "RepoNotFound" ? `no model ${id}` : `no revision ${JSON.stringify(revision)} of ${id}`;
    throw new ChorusError("model_not_found", `There is ${what} on ${hubUrl}. ${A_FOLDER}.`, "model");
  }
  if (response.status !== 200 || isWebPage(response)) return null;
  const json = parseOrNull(bytes);
  const siblings = isObject(json) ? json["siblings"] : undefined;
  const commit = isObject(json) ? json["sha"] : undefined;
  if (typeof commit !== "string" || !/^[0-9a-f]{7,64}$/.test(commit) || !Array.isArray(siblings)) {
    throw downloadFailed(url, "model", "the answer is not the hub's list of a model's files");
  }
  return { commit, files: new Map(siblings.flatMap(listedFile)) };
}

function listedFile(sibling: unknown): [string, ListedFile][] {
  if (!isObject(sibling)) return [];
  const { rfilename: name, size, blobId, lfs } = sibling;
  if (typeof name !== "string" || !Number.isSafeInteger(size) || (size as number) < 0) return [];
  const sha256 = isObject(lfs) ? hashOrNull(lfs["sha256"], 64) : null;
  // For a large file, git stores and hashes only a pointer.
  return [[name, { size: size as number, sha256, gitSha1: isObject(lfs) ? null : hashOrNull(blobId, 40) }]];
}

function hashOrNull(value: unknown, digits: number): string | null {
  return typeof value === "string" && value.length === digits && /^[0-9a-f]+$/.test(value) ? value : null;
}

function parseOrNull(bytes: Uint8Array): unknown {
  try {
    return parseJson(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
}
