// The parts of the origin private file system that the store uses.

import { ChorusError } from "../../protocol/errors.ts";

/** Part of FileSystemSyncAccessHandle. TypeScript's DOM library lacks it, since only workers have it. */
export interface SyncAccessHandle {
  read(bytes: Uint8Array, options: { at: number }): number;
  /** Returns the number of bytes written, which is smaller if the disk is full. */
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(bytes: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}

/** Returns whether this thread may write. Workers may, pages may not. */
export function canWriteFiles(): boolean {
  return globalThis.FileSystemFileHandle !== undefined && "createSyncAccessHandle" in FileSystemFileHandle.prototype;
}

/** Opens a file, or creates it. A file can have one handle at a time. */
export async function openForWriting(folder: FileSystemDirectoryHandle, name: string): Promise<SyncAccessHandle> {
  const handle: unknown = await folder.getFileHandle(name, { create: true });
  return (handle as { createSyncAccessHandle(): Promise<SyncAccessHandle> }).createSyncAccessHandle();
}

/** @throws ChorusError storage_full */
export function writeAll(handle: SyncAccessHandle, bytes: Uint8Array, at: number, file: string): void {
  let written: number;
  try {
    written = handle.write(bytes, { at });
  } catch (cause) {
    if (cause instanceof Error && cause.name === "QuotaExceededError") throw storageFull(file, cause);
    throw cause;
  }
  if (written < bytes.length) throw storageFull(file);
}

export async function writeFile(folder: FileSystemDirectoryHandle, name: string, bytes: Uint8Array): Promise<void> {
  const handle = await openForWriting(folder, name);
  try {
    handle.truncate(0);
    writeAll(handle, bytes, 0, name);
    handle.flush();
  } finally {
    handle.close();
  }
}

/** Returns a snapshot of the file; undefined if it does not exist. */
export function readFile(folder: FileSystemDirectoryHandle, name: string): Promise<File | undefined> {
  const opening = folder.getFileHandle(name).then((handle) => handle.getFile());
  return opening.catch(undefinedIfMissing);
}

/** Removes a file, or a folder with its contents, if it exists. */
export async function remove(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  await folder.removeEntry(name, { recursive: true }).catch(undefinedIfMissing);
}

/** Handles the error of a file or a folder that does not exist. @throws any other */
export function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof DOMException) || error.name !== "NotFoundError") throw error;
}

export function storageFull(file: string, cause?: unknown): ChorusError {
  const advice = "Delete models you don't need or free space on the disk, then download again";
  const message = `There is no room to store ${file}. ${advice}: the download resumes where it stopped.`;
  return new ChorusError("storage_full", message, file, { cause });
}
