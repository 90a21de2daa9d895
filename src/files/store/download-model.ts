// Downloads a model into a folder of the store. After an interruption the received bytes stay, and the next call resumes.
// The manifest marks a model as complete, so it is written last.

import { byteSize } from "../../protocol/byte-size.ts";
import type { DownloadProgress } from "../../protocol/models.ts";
import { downloadFailed, type HttpClient } from "../hub/http-client.ts";
import type { RemoteFolder } from "../hub/remote-folder.ts";
import { ChangedOnServer } from "../hub/resumable-bytes.ts";
import { damaged, readSmallFile } from "../hub/remote-files.ts";
import { toHex } from "../hex-digest.ts";
import { openForWriting, readFile, remove, storageFull, writeAll, writeFile, type SyncAccessHandle } from "./opfs.ts";
import { fetchPart, seamsOf, type Part, type Stored } from "./part.ts";
import { planModel, type AsFolder, type DescribeModel } from "./plan-download.ts";
import { ProgressMeter } from "./progress-meter.ts";
import { partsSoFar, RECEIVED_LOG, ReceivedLog } from "./received-log.ts";
import { MANIFEST, PLAN, readPlan, totalBytes, type DownloadPlan, type Manifest, type WeightsPlan } from "./records.ts";

/** Parts fetched at once. */
const CONNECTIONS = 4;
/** Progress of a part is logged after this many bytes, so a crash loses no more of it. */
const LOG_BYTES = 2 * 2 ** 20;
const HASH_BYTES = 4 * 2 ** 20;

interface DownloadJob {
  readonly http: HttpClient;
  readonly describeModel: DescribeModel;
  readonly asFolder: AsFolder;
  readonly folder: FileSystemDirectoryHandle;
  /** The model's name in error messages. */
  readonly model: string;
  /** Opens the folder on its server, at the commit of the download that goes on, if one does. */
  readonly openRemote: (commit: string | null) => Promise<RemoteFolder>;
  /** Writes a record of this model's folder. */
  readonly writeRecord: (name: string, record: Manifest) => Promise<void>;
  /** Returns how many more bytes the browser lets this origin store; null if it doesn't say. */
  readonly freeBytes: () => Promise<number | null>;
  readonly onProgress: (progress: DownloadProgress) => void;
  readonly signal: AbortSignal;
}

/**
 * @throws ChorusError model_not_found, model_invalid, model_unsupported, model_access_denied, model_download_failed,
 *   storage_full; the signal's reason
 */
export async function downloadModel(job: DownloadJob): Promise<Manifest> {
  try {
    return await resume(job);
  } catch (error) {
    if (!(error instanceof ChangedOnServer)) throw error;
  }
  // The received bytes belong to a file that no longer exists.
  await clear(job.folder);
  try {
    return await resume(job);
  } catch (error) {
    if (!(error instanceof ChangedOnServer)) throw error;
    const why =
      "its files keep changing on the server, or it sends wrong parts of them: what arrived doesn't fit together";
    throw downloadFailed(job.model, "model", why);
  }
}

async function resume(job: DownloadJob): Promise<Manifest> {
  const { folder, signal } = job;
  const started = await readPlan(folder);
  const remote = await job.openRemote(started?.commit ?? null);
  const plan = started ?? (await begin(job, remote));
  const files = new Map<string, SyncAccessHandle>();
  let damagedFile: WeightsPlan | null = null;
  try {
    for (const { name } of plan.weights) files.set(name, await openForWriting(folder, name));
    await fetchWeights(job, remote, plan, files);
    await checkSeams(job, remote, plan, files);
    if (plan.commit === null) await checkSmallFiles(job, remote, plan);
    for (const weights of plan.weights)
      if (!damagedFile && !(await isSound(weights, files.get(weights.name), signal))) damagedFile = weights;
  } finally {
    for (const handle of files.values()) handle.close();
  }
  if (damagedFile) {
    await clear(folder);
    throw damaged(remote.request(damagedFile.name).url, damagedFile.name);
  }
  const { name, commit } = plan;
  const weights = plan.weights.map((file) => ({ name: file.name, size: file.size }));
  const manifest: Manifest = { name, commit, files: [...plan.files, ...weights] };
  await job.writeRecord(MANIFEST, manifest);
  await remove(folder, PLAN);
  await remove(folder, RECEIVED_LOG);
  return manifest;
}

/** Stores the small files and the headers of the weights, then the plan. */
async function begin(
  { http, describeModel, asFolder, folder, freeBytes, writeRecord, signal }: DownloadJob,
  remote: RemoteFolder,
): Promise<DownloadPlan> {
  await clear(folder);
  const { smallFiles, weights } = await planModel(http, remote, describeModel, asFolder, signal);
  const plan: DownloadPlan = {
    name: remote.name,
    commit: remote.commit,
    files: [...smallFiles].map(([name, bytes]) => ({ name, size: bytes.length })),
    weights: weights.map((planned) => planned.plan),
  };
  const needed = totalBytes(plan) + totalBytes({ files: plan.weights });
  const free = await freeBytes();
  if (free !== null && free < needed)
    throw storageFull(`${remote.name} (${byteSize(needed)}, ${byteSize(free)} are free)`);
  for (const [name, bytes] of smallFiles) await writeFile(folder, name, bytes);
  for (const { plan: file, header } of weights) await writeFile(folder, file.name, header);
  await writeRecord(PLAN, plan);
  return plan;
}

async function clear(folder: FileSystemDirectoryHandle): Promise<void> {
  // Delete the records first: without them the other files count for nothing.
  for (const name of [MANIFEST, PLAN, RECEIVED_LOG]) await remove(folder, name);
  const names: string[] = [];
  for await (const name of folder.keys()) names.push(name);
  for (const name of names) await remove(folder, name);
}

async function fetchWeights(
  { http, folder, onProgress, signal }: DownloadJob,
  remote: RemoteFolder,
  plan: DownloadPlan,
  files: ReadonlyMap<string, SyncAccessHandle>,
): Promise<void> {
  const { parts, sizes } = await partsSoFar(folder, plan);
  const meter = new ProgressMeter({ ...sizes, onProgress });
  const log = await ReceivedLog.open(folder);
  const logged = new Map(parts.map((part) => [part, part.received]));
  const record = (part: Part) => {
    if (logged.get(part) === part.received) return;
    files.get(part.weights.name)?.flush();
    log.append(part.index, part.received);
    logged.set(part, part.received);
  };
  try {
    const incomplete = parts.filter(({ length, received }) => received < length);
    await overConnections(incomplete, signal, async (part, either) => {
      const stored = storedOf(files, part.weights);
      const write = (bytes: Uint8Array, at: number) => {
        stored.write(bytes, at);
        meter.add(bytes.length);
        if (part.received - (logged.get(part) ?? 0) >= LOG_BYTES) record(part);
      };
      await fetchPart(http, remote, part, { ...stored, write }, either);
      record(part);
    });
  } finally {
    meter.close();
    try {
      for (const part of parts) record(part);
    } finally {
      log.close();
    }
  }
}

/** Works on all items, over several connections. Waits for all: none may still write when the files are closed. */
async function overConnections<Item>(
  items: Iterable<Item>,
  signal: AbortSignal,
  work: (item: Item, either: AbortSignal) => Promise<void>,
): Promise<void> {
  const failure = new AbortController();
  const either = AbortSignal.any([signal, failure.signal]);
  // They take turns at one iterator.
  const queue = items[Symbol.iterator]();
  const connection = async () => {
    try {
      for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value, either);
    } catch (error) {
      failure.abort(error);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, connection));
  either.throwIfAborted();
}

/**
 * Fetches the bytes around the parts' ends again and compares them: parts that came at different times, or from different
 * servers, must belong together. Not needed for a file with a known hash.
 * @throws ChangedOnServer
 */
async function checkSeams(
  { http, signal }: DownloadJob,
  remote: RemoteFolder,
  plan: DownloadPlan,
  files: ReadonlyMap<string, SyncAccessHandle>,
): Promise<void> {
  const seams = plan.weights.filter(({ sha256, takesRanges }) => sha256 === null && takesRanges).flatMap(seamsOf);
  await overConnections(seams, signal, async (seam, either) => {
    const stored = storedOf(files, seam.weights);
    const write = (bytes: Uint8Array, at: number) => {
      const before = stored.read(at, bytes.length);
      if (!bytes.every((byte, i) => byte === before[i])) throw new ChangedOnServer();
    };
    await fetchPart(http, remote, { ...seam, received: 0 }, { ...stored, write }, either);
  });
}

/** Fetches small files that no commit pins again, and compares them. @throws ChangedOnServer */
async function checkSmallFiles({ http, folder, signal }: DownloadJob, remote: RemoteFolder, plan: DownloadPlan) {
  for (const { name } of plan.files) {
    const now = await readSmallFile(http, remote, name, { signal });
    const stored = await readFile(folder, name);
    const before = new Uint8Array((await stored?.arrayBuffer()) ?? new ArrayBuffer());
    const isSame = !("missing" in now) && now.length === before.length && now.every((byte, i) => byte === before[i]);
    if (!isSame) throw new ChangedOnServer();
  }
}

function storedOf(files: ReadonlyMap<string, SyncAccessHandle>, { name }: WeightsPlan): Stored {
  const handle = files.get(name);
  if (handle === undefined) throw new Error(`${name} is not open.`);
  return {
    write: (bytes, at) => writeAll(handle, bytes, at, name),
    read(at, length) {
      const bytes = new Uint8Array(length);
      return bytes.subarray(0, handle.read(bytes, { at }));
    },
  };
}

/** Returns whether a stored file is as its plan says. */
async function isSound({ size, sha256 }: WeightsPlan, handle: SyncAccessHandle | undefined, signal: AbortSignal) {
  if (handle?.getSize() !== size) return false;
  return sha256 === null || (await hashOf(handle, signal)) === sha256;
}

async function hashOf(handle: SyncAccessHandle, signal: AbortSignal): Promise<string> {
  // The browser's digest() needs all bytes at once, and weights are too large for that.
  const { sha256 } = await import("@noble/hashes/sha2.js");
  const hash = sha256.create();
  const buffer = new Uint8Array(HASH_BYTES);
  const size = handle.getSize();
  for (let at = 0; at < size;) {
    const length = handle.read(buffer, { at });
    if (length === 0) break;
    hash.update(buffer.subarray(0, length));
    at += length;
    // Yield, so that an abort can arrive.
    await new Promise((resolve) => setTimeout(resolve));
    signal.throwIfAborted();
  }
  return toHex(hash.digest());
}
