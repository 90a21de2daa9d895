// Keeps models of the hub in the cache of Hugging Face's own tools, and in its layout, so that both share one download:
//
//   HF_HOME/hub/models--owner--name/refs/main                   the last known commit of "main"
//                                  /snapshots/COMMIT/FILE       a link to the blob
//                                  /blobs/HASH                  the file; HASH.incomplete while it comes

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import {
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";

import { downloadFailed, HttpClient, type HttpRequest } from "../files/hub/http-client.ts";
import { openRemoteFolder, type ListedFile, type RemoteFolder } from "../files/hub/remote-folder.ts";
import { resumableBytes } from "../files/hub/resumable-bytes.ts";
import { chooseGguf, partNames } from "../files/gguf/gguf-names.ts";
import { CONFIG_FILE, isWeightsFile, modelFileNames, WEIGHTS_FILE, WEIGHTS_INDEX_FILE } from "../files/model-folder.ts";
import { whyMissing } from "../files/web-page.ts";
import { ChorusError, DEFAULT_HUB_URL, DEFAULT_REVISION, parseJson } from "../index.ts";

interface HubCacheOptions {
  /** Branch, tag, commit or "refs/pr/4". ["main"] */
  readonly revision?: string;
  /** A quantisation or a file, if the weights are in GGUF. [what the repository has] */
  readonly gguf?: string | undefined;
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Called with the bytes that have arrived, of all files together. */
  readonly onProgress: (receivedBytes: number, totalBytes: number) => void;
  /** Ends the download; received bytes are kept. */
  readonly signal?: AbortSignal;
  /** Called when nothing has arrived for some seconds, and before another attempt. */
  readonly onWaiting?: () => void;
  /** Waits between attempts. [by the clock] */
  readonly wait?: (ms: number) => Promise<void>;
}

/** Returns the cache's folder, as huggingface_hub decides it. */
export function hubCacheFolder(env: Readonly<NodeJS.ProcessEnv>): string {
  const home = env["HF_HOME"] ?? join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "huggingface");
  return env["HF_HUB_CACHE"] ?? join(home, "hub");
}

/**
 * Downloads the missing files of a hub's model and returns its folder, or its GGUF file. If the hub can't be reached or is busy, uses an
 * earlier complete download.
 * @throws ChorusError, Error with a message for the person who typed the command; the signal's reason
 */
export async function openHubModel(id: string, options: HubCacheOptions): Promise<string> {
  const { env, revision = DEFAULT_REVISION, onProgress, signal } = options;
  const folder = join(hubCacheFolder(env), `models--${id.replace("/", "--")}`);
  const ref = join(folder, "refs", ...revision.split("/"));
  const keptCommit = await readFile(ref, "utf8").catch(() => null);
  const kept =
    keptCommit === null ? null : await wholeModel(join(folder, "snapshots", keptCommit.trim()), options.gguf);
  const isKept = kept !== null;
  const http = new HttpClient(options);
  const location = {
    type: "hub",
    id,
    revision,
    hubUrl: (env["HF_ENDPOINT"] ?? DEFAULT_HUB_URL).replace(/\/+$/, ""),
    token: env["HF_TOKEN"] || null,
    ...(options.gguf !== undefined && { gguf: options.gguf }),
  } as const;
  const advice = location.token ? "the token in HF_TOKEN may not read it" : "if it is private or gated, set HF_TOKEN";
  let remote: RemoteFolder;
  try {
    remote = await openRemoteFolder(location, isKept ? new HttpClient({ ...options, maxRetries: 0 }) : http, {
      signal,
    });
  } catch (error) {
    if (!(error instanceof ChorusError)) throw error;
    if (error.code === "model_download_failed" && isKept) return kept;
    if (error.code !== "model_access_denied") throw error;
    throw new Error(`The hub gives no access to ${id}: it may not exist; ${advice}.`, { cause: error });
  }
  const { commit } = remote;
  if (commit === null || !remote.files) {
    throw new Error(`${location.hubUrl} has no list of the files of ${id}: it may not exist; ${advice}.`);
  }
  const { gguf } = remote;
  const files = modelFileNames([...remote.files.keys()], gguf).map((name) => hubFile(name, remote.files?.get(name)));
  if (!files.some(({ name }) => isWeightsFile(name))) {
    throw new Error(`${id} has no weights as safetensors (model.safetensors, or its shards) or GGUF.`);
  }
  const snapshot = join(folder, "snapshots", commit);
  for (const path of [snapshot, join(folder, "blobs"), dirname(ref)]) await mkdir(path, { recursive: true });
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  let before = 0;
  for (const file of files) {
    const blob = join(folder, "blobs", file.hash);
    const onBytes = (bytes: number) => onProgress(before + bytes, totalBytes);
    if ((await sizeOf(blob)) !== file.size)
      await download(http, remote.request(file.name), file, blob, onBytes, signal);
    before += file.size;
    onBytes(0);
    await link(file, blob, join(snapshot, file.name));
  }
  await writeFile(ref, commit);
  return gguf === null ? snapshot : join(snapshot, gguf);
}

interface HubFile {
  readonly name: string;
  readonly size: number;
  /** The blob's name: SHA-256 of large files, git's SHA-1 of small ones. */
  readonly hash: string;
}

function hubFile(name: string, listed: ListedFile | undefined): HubFile {
  const hash = listed?.sha256 ?? listed?.gitSha1;
  if (!listed || !hash) throw new Error(`The hub's list has no hash of ${name}.`);
  return { name, size: listed.size, hash };
}

/** Downloads a file or resumes its download, and keeps it under its hash if that is right. */
async function download(
  http: HttpClient,
  request: HttpRequest,
  { name, size, hash }: HubFile,
  blob: string,
  onBytes: (bytes: number) => void,
  signal: AbortSignal | undefined,
): Promise<void> {
  const part = `${blob}.incomplete`;
  const { url } = request;
  const target = await open(part, "a");
  const options = {
    at: Math.max(0, await sizeOf(part)),
    size,
    // Its hash is checked at the end.
    isPinned: true,
    async startOver() {
      await target.truncate();
      return true;
    },
    check(response: Response) {
      const why = whyMissing(response);
      if (why !== null) throw downloadFailed(url, name, `${why}, though the hub lists the file`);
    },
    onBytes,
  };
  try {
    // Written piece by piece, so that the pieces before a break are kept.
    for await (const piece of resumableBytes(http, request, options, signal)) await target.write(piece);
  } finally {
    await target.close();
  }
  if ((await sizeOf(part)) !== size || (await hashOf(part, size, hash.length)) !== hash) {
    await rm(part);
    throw new Error(`${url} arrived damaged: its size or hash is not the one that the hub gives. Try again.`);
  }
  await rename(part, blob);
}

/** Git hashes a header with small files; large ones have a plain SHA-256. */
async function hashOf(path: string, size: number, digits: number): Promise<string> {
  const hash = digits === 40 ? createHash("sha1").update(`blob ${size}\0`) : createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

async function link({ hash }: HubFile, blob: string, path: string): Promise<void> {
  const target = join("..", "..", "blobs", hash);
  const kept = await readlink(path).catch(() => null);
  // Files of several folders may have one name, and one size.
  if (kept === null ? (await sizeOf(path)) === (await sizeOf(blob)) : kept === target) return;
  await rm(path, { force: true });
  // Windows forbids links to most users.
  await symlink(target, path).catch(() => copyFile(blob, path));
}

/** Returns a snapshot, or its GGUF file, if it can be loaded: it may be incomplete, or another tool's part of one. */
async function wholeModel(snapshot: string, gguf: string | undefined): Promise<string | null> {
  const names = await readdir(snapshot).catch(() => []);
  const has = async (name: string) => (await sizeOf(join(snapshot, name))) > 0;
  if (gguf === undefined && (await hasSafetensors(snapshot, has))) return snapshot;
  const sizes = new Map(
    await Promise.all(names.map(async (name) => [name, { size: await sizeOf(join(snapshot, name)) }] as const)),
  );
  try {
    const file = chooseGguf(sizes, gguf?.split("/").at(-1) ?? null, snapshot);
    const parts = await Promise.all(file === null ? [] : partNames(file).map(has));
    return file !== null && parts.every(Boolean) ? join(snapshot, file) : null;
  } catch {
    return null; // none of those that are there
  }
}

async function hasSafetensors(snapshot: string, has: (name: string) => Promise<boolean>): Promise<boolean> {
  if (!(await has(CONFIG_FILE))) return false;
  if (await has(WEIGHTS_FILE)) return true;
  const index = await readFile(join(snapshot, WEIGHTS_INDEX_FILE), "utf8").catch(() => "{}");
  const { weight_map: shards = {} } = parseJson(index) as { weight_map?: Record<string, string> };
  const names = [...new Set(Object.values(shards))];
  const found = await Promise.all(names.map(has));
  return names.length > 0 && found.every(Boolean);
}

const sizeOf = (path: string) =>
  stat(path).then(
    ({ size }) => size,
    () => -1,
  );
