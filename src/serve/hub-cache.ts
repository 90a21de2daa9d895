// Models of the hub, kept where Hugging Face's own tools keep them, and in the same layout, so that both share one download:
//
//   HF_HOME/hub/models--owner--name/refs/main                   the commit that "main" was last
//                                  /snapshots/COMMIT/FILE       a link to the blob
//                                  /blobs/HASH                  the file; HASH.incomplete while it comes

import { parseJson } from "../protocol/bounded-data.ts";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { copyFile, mkdir, open, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

import { DEFAULT_HUB_URL, DEFAULT_REVISION } from "../protocol/model-source.ts";

/** What a model needs besides its weights; those that it has are fetched. */
const SMALL_FILES: ReadonlySet<string> = new Set([
  "config.json",
  "generation_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "vocab.json",
  "merges.txt",
  "chat_template.jinja",
]);
const WEIGHTS = "model.safetensors";
const WEIGHTS_INDEX = "model.safetensors.index.json";
/** How often a broken download is resumed without a byte in between. */
const MOST_TRIES = 5;

interface HubFile {
  readonly name: string;
  readonly size: number;
  /** The blob's name: SHA-256 of large files, git's SHA-1 of small ones. */
  readonly hash: string;
}

interface HubCacheOptions {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Told of the bytes that are there, of all files together. */
  readonly onProgress: (receivedBytes: number, totalBytes: number) => void;
  /** Ends the download; what has come is kept. */
  readonly signal?: AbortSignal;
  /** Waits between tries, milliseconds. [1000 each] */
  readonly retryDelayMs?: number;
}

/** Where the cache is: as huggingface_hub decides it. */
export function hubCacheFolder(env: Readonly<NodeJS.ProcessEnv>): string {
  const home = env["HF_HOME"] ?? join(env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "huggingface");
  return env["HF_HUB_CACHE"] ?? join(home, "hub");
}

/**
 * Returns the folder of a hub's model, and downloads what of it is missing. Where the hub is out of reach, what was
 * downloaded whole before is used.
 * @throws Error with a message for whoever typed the command
 */
export async function openHubModel(id: string, options: HubCacheOptions): Promise<string> {
  const { env } = options;
  const folder = join(hubCacheFolder(env), `models--${id.replace("/", "--")}`);
  const ref = join(folder, "refs", DEFAULT_REVISION);
  let listed: { commit: string; files: readonly HubFile[] };
  try {
    listed = await listFiles(id, env);
  } catch (error) {
    options.signal?.throwIfAborted();
    const commit = await readFile(ref, "utf8").catch(() => null);
    const snapshot = commit === null ? null : join(folder, "snapshots", commit.trim());
    if (error instanceof HubRefusal || snapshot === null || !(await isWhole(snapshot))) throw error;
    return snapshot;
  }
  const { commit, files } = listed;
  const snapshot = join(folder, "snapshots", commit);
  for (const path of [snapshot, join(folder, "blobs"), join(folder, "refs")]) await mkdir(path, { recursive: true });
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  let before = 0;
  for (const file of files) {
    const blob = join(folder, "blobs", file.hash);
    const onBytes = (bytes: number) => options.onProgress(before + bytes, totalBytes);
    if ((await sizeOf(blob)) !== file.size) await download(id, commit, file, blob, onBytes, options);
    before += file.size;
    onBytes(0);
    await link(file, blob, join(snapshot, file.name));
  }
  await writeFile(ref, commit);
  return snapshot;
}

/** The hub answers, and says no. */
class HubRefusal extends Error {
  override readonly name = "HubRefusal";
}

/** Returns the commit that "main" is now, and those of its files that a model is loaded from. */
async function listFiles(
  id: string,
  env: HubCacheOptions["env"],
): Promise<{ commit: string; files: readonly HubFile[] }> {
  const url = `${hubOf(env)}/api/models/${id}/revision/${DEFAULT_REVISION}?blobs=true`;
  const response = await fetch(url, { headers: bearer(env) }).catch((cause: unknown) => {
    throw new Error(`The hub can't be reached at ${hubOf(env)}, and ${id} was not downloaded before.`, { cause });
  });
  if (!response.ok) throw refusal(id, response.status, env);
  const { sha, siblings = [] } = (await response.json()) as {
    sha?: string;
    siblings?: { rfilename: string; size: number; blobId?: string; lfs?: { sha256?: string } }[];
  };
  const all = siblings.map(({ rfilename, size, blobId, lfs }) => ({
    name: rfilename,
    size,
    hash: lfs?.sha256 ?? blobId ?? "",
  }));
  const isSharded = !all.some(({ name }) => name === WEIGHTS);
  const isWanted = (name: string) =>
    SMALL_FILES.has(name) ||
    (isSharded ? name === WEIGHTS_INDEX || /^model-\d+-of-\d+\.safetensors$/.test(name) : name === WEIGHTS);
  const files = all.filter(({ name }) => isWanted(name));
  const isPlain = (file: HubFile) => /^[\da-f]{40,64}$/.test(file.hash) && Number.isSafeInteger(file.size);
  if (sha === undefined || !/^[\da-f]{7,64}$/.test(sha) || !files.every(isPlain)) {
    throw new HubRefusal(`${hubOf(env)} does not list the files of ${id} as the hub does.`);
  }
  if (!files.some(({ name }) => name.endsWith(".safetensors"))) {
    throw new HubRefusal(`${id} has no weights as safetensors (model.safetensors, or its shards).`);
  }
  return { commit: sha, files };
}

function refusal(id: string, status: number, env: HubCacheOptions["env"]): HubRefusal {
  if (status !== 401 && status !== 403 && status !== 404)
    return new HubRefusal(`The hub failed (${status}) to list ${id}.`);
  const advice = env["HF_TOKEN"] ? "the token in HF_TOKEN may not read it" : "if it is private or gated, set HF_TOKEN";
  return new HubRefusal(`The hub gives no access to ${id} (${status}): it may not exist; ${advice}.`);
}

/** Downloads a file, resumes it where it broke off, and keeps it under its hash if that is right. */
async function download(
  id: string,
  commit: string,
  { name, size, hash }: HubFile,
  blob: string,
  onBytes: (bytes: number) => void,
  { env, retryDelayMs = 1000 }: HubCacheOptions,
): Promise<void> {
  const part = `${blob}.incomplete`;
  const url = `${hubOf(env)}/${id}/resolve/${commit}/${encodeURIComponent(name)}`;
  let problem = "";
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const begin = Math.min(await sizeOf(part), size);
    if (begin === size && size > 0) break;
    if (tries > 0) await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    try {
      const range: Record<string, string> = begin > 0 ? { range: `bytes=${begin}-${size - 1}` } : {};
      const response = await fetch(url, { headers: { ...bearer(env), ...range } });
      if (!response.ok || response.body === null) throw refusal(id, response.status, env);
      // A server that knows no ranges sends it from its beginning.
      let received = response.status === 206 ? begin : 0;
      // Written piece by piece, so that what came before a break is kept.
      const target = await open(part, received > 0 ? "a" : "w");
      try {
        for await (const piece of response.body) {
          await target.write(piece);
          received += piece.length;
          onBytes(received);
        }
      } finally {
        await target.close();
      }
      if (received === size) break;
      problem = `${received} of ${size} bytes came`;
    } catch (error) {
      if (error instanceof HubRefusal) throw error;
      problem = error instanceof Error ? error.message : String(error);
    }
    // A try that brought something counts as none.
    if ((await sizeOf(part)) > begin) tries = 0;
  }
  if ((await sizeOf(part)) !== size)
    throw new Error(`${name} of ${id} could not be downloaded: ${problem}. Try again to go on.`);
  if ((await hashOf(part, size, hash.length)) !== hash) {
    await rm(part);
    throw new Error(`${name} of ${id} arrived damaged: its hash is not the one that the hub gives. Try again.`);
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
  if ((await sizeOf(path)) === (await sizeOf(blob))) return;
  await rm(path, { force: true });
  // Windows forbids links to most users.
  await symlink(join("..", "..", "blobs", hash), path).catch(() => copyFile(blob, path));
}

/** Whether a snapshot can be loaded: it may be one that was broken off, or another tool's part of one. */
async function isWhole(snapshot: string): Promise<boolean> {
  const has = async (name: string) => (await sizeOf(join(snapshot, name))) > 0;
  if (!(await has("config.json"))) return false;
  if (await has(WEIGHTS)) return true;
  const index = await readFile(join(snapshot, WEIGHTS_INDEX), "utf8").catch(() => "{}");
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

const hubOf = (env: HubCacheOptions["env"]) => (env["HF_ENDPOINT"] ?? DEFAULT_HUB_URL).replace(/\/+$/, "");

function bearer(env: HubCacheOptions["env"]): Record<string, string> {
  return env["HF_TOKEN"] ? { authorization: `Bearer ${env["HF_TOKEN"]}` } : {};
}
