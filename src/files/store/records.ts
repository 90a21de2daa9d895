// What the store writes beside a model's files. A folder of the store holds
//
//   manifest.json                  of a model that is whole; written last
//   download.json, received.log    of one that is being downloaded, or whose download was interrupted
//   config.json, model.safetensors, ...
//
// and anything else is what a crash left before there was a plan: it is written over.

import type { FolderLocation, HubLocation, RemoteLocation } from "../../protocol/model-source.ts";
import { isObject } from "../json-fields.ts";
import { readFile, writeFile } from "./opfs.ts";

const VERSION = 1;
export const MANIFEST = "manifest.json";
export const PLAN = "download.json";

/** Where a model is from. Never with a token. */
export type StoredLocation = Omit<HubLocation, "token"> | FolderLocation;

export interface StoredFile {
  readonly name: string;
  readonly size: number;
}

interface StoredFolder {
  readonly location: StoredLocation;
  readonly name: string;
  readonly commit: string | null;
  /** Those that are there whole. */
  readonly files: readonly StoredFile[];
}

export type Manifest = StoredFolder;

export interface DownloadPlan extends StoredFolder {
  readonly weights: readonly WeightsPlan[];
}

/** How a weights file is fetched. The file kept begins with a header of its own where tensors are left out. */
export interface WeightsPlan extends StoredFile {
  /** The whole file's size where it comes from. */
  readonly remoteSize: number;
  /** What shows that the file has changed; null where a commit says which one it is, or the server gives none. */
  readonly etag: string | null;
  /** Of the whole file; null where the hub gives none, or not all of the file is kept. */
  readonly sha256: string | null;
  /** In the order of the file. */
  readonly segments: readonly Segment[];
}

/** Bytes of the remote file and where they go. */
export interface Segment {
  readonly remoteBegin: number;
  readonly localBegin: number;
  readonly length: number;
}

export function withoutToken(location: RemoteLocation): StoredLocation {
  if (location.type === "folder") return { type: "folder", url: location.url };
  const { id, revision, hubUrl } = location;
  return { type: "hub", id, revision, hubUrl };
}

export async function writeRecord(
  folder: FileSystemDirectoryHandle,
  name: string,
  record: StoredFolder,
): Promise<void> {
  await writeFile(folder, name, new TextEncoder().encode(JSON.stringify({ version: VERSION, ...record })));
}

export async function readManifest(folder: FileSystemDirectoryHandle): Promise<Manifest | undefined> {
  return (await readRecord(folder, MANIFEST)) as Manifest | undefined;
}

export async function readPlan(folder: FileSystemDirectoryHandle): Promise<DownloadPlan | undefined> {
  return (await readRecord(folder, PLAN)) as DownloadPlan | undefined;
}

/** Undefined where there is none, or one that was cut short: no beginning of a JSON object is one. */
async function readRecord(folder: FileSystemDirectoryHandle, name: string): Promise<unknown> {
  const text = await (await readFile(folder, name))?.text();
  if (text === undefined) return undefined;
  try {
    const record: unknown = JSON.parse(text);
    return isObject(record) && record["version"] === VERSION ? record : undefined;
  } catch {
    return undefined;
  }
}

export function totalBytes({ files }: { readonly files: readonly StoredFile[] }): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
