// The store's own records beside a model's files. A folder of the store holds
//
//   manifest.json                  if the model is complete; written last
//   download.json, received.log    while it is being downloaded, or after an interruption
//   config.json, model.safetensors, ...
//
// Without a record the files are leftovers of a crash, and the next download overwrites them.

import { parseJson } from "../../protocol/bounded-data.ts";
import type { FolderLocation, HubLocation } from "../../protocol/model-source.ts";
import { isObject } from "../../protocol/json-object.ts";
import { readFile, writeFile } from "./opfs.ts";

const VERSION = 1;
export const MANIFEST = "manifest.json";
export const PLAN = "download.json";

/** A model's origin, without the token. */
export type StoredLocation = Omit<HubLocation, "token"> | FolderLocation;

interface StoredFile {
  readonly name: string;
  readonly size: number;
}

export interface Manifest {
  readonly name: string;
  readonly commit: string | null;
  /** Complete files. */
  readonly files: readonly StoredFile[];
}

export interface DownloadPlan extends Manifest {
  readonly weights: readonly WeightsPlan[];
}

/** How to fetch a weights file. If tensors are left out, the stored file has a rewritten header. */
export interface WeightsPlan extends StoredFile {
  /** The whole file's size on the server. */
  readonly remoteSize: number;
  /** The file's ETag or date, which detects a change; null if a commit pins the file, or the server sends none. */
  readonly version: string | null;
  /** Whether the server sends parts of the file. */
  readonly takesRanges: boolean;
  /** Hash of the whole file; null if the hub gives none, or tensors are left out. */
  readonly sha256: string | null;
  /** In file order. */
  readonly segments: readonly Segment[];
}

/** A range of the remote file and its place in the stored one. */
export interface Segment {
  readonly remoteBegin: number;
  readonly localBegin: number;
  readonly length: number;
}

/** A record of a folder of the store. */
export type Stored<Record extends Manifest> = Record & { readonly location: StoredLocation };

export async function writeRecord(folder: FileSystemDirectoryHandle, name: string, record: Stored<Manifest>) {
  await writeFile(folder, name, new TextEncoder().encode(JSON.stringify({ version: VERSION, ...record })));
}

export async function readManifest(folder: FileSystemDirectoryHandle): Promise<Stored<Manifest> | undefined> {
  return (await readRecord(folder, MANIFEST)) as Stored<Manifest> | undefined;
}

export async function readPlan(folder: FileSystemDirectoryHandle): Promise<Stored<DownloadPlan> | undefined> {
  const plan = (await readRecord(folder, PLAN)) as Stored<DownloadPlan> | undefined;
  if (plan === undefined) return undefined;
  // Plans of an earlier build don't have these.
  const missing = { version: null, takesRanges: true };
  return { ...plan, weights: plan.weights.map((weights) => ({ ...missing, ...weights })) };
}

/** Returns undefined if the record is missing or cut short: a truncated JSON object does not parse. */
async function readRecord(folder: FileSystemDirectoryHandle, name: string): Promise<unknown> {
  const text = await (await readFile(folder, name))?.text();
  if (text === undefined) return undefined;
  try {
    const record: unknown = parseJson(text);
    return isObject(record) && record["version"] === VERSION ? record : undefined;
  } catch {
    return undefined;
  }
}

export function totalBytes({ files }: { readonly files: readonly StoredFile[] }): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
