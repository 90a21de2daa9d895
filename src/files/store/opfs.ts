// The origin private file system, as far as the store uses it.

import { ChorusError } from "../../protocol/errors.ts";

/** What is used of FileSystemSyncAccessHandle: TypeScript's DOM library lacks it, since only workers have it. */
export interface SyncAccessHandle {
  read(bytes: Uint8Array, options: { at: number }): number;
  /** Bytes written: fewer where the disk is full. */
  write(bytes: Uint8Array, options: { at: number }): number;
  truncate(bytes: number): void;
  getSize(): number;
  flush(): void;
  close(): void;
}

interface WritableFileHandle {
  createSyncAccessHandle(): Promise<SyncAccessHandle>;
}

/** Whether this thread may write: workers may, pages may not. */
export function canWriteFiles(): boolean {
  return globalThis.FileSystemFileHandle !== undefined && "createSyncAccessHandle" in FileSystemFileHandle.prototype;
}

/** Makes the file where there is none. One handle a file at a time. */
export async function openForWriting(folder: FileSystemDirectoryHandle, name: string): Promise<SyncAccessHandle> {
  const handle: unknown = await folder.getFileHandle(name, { create: true });
  return (handle as WritableFileHandle).createSyncAccessHandle();
}

/** @throws ChorusError storage_full */
export function writeAll(handle: SyncAccessHandle, bytes: Uint8Array, at: number, file: string): void {
  let written: number;
  try {
    written = handle.write(bytes, { at });
  } catch (cause) {
    if (isQuotaError(cause)) throw storageFull(file, cause);
    throw cause;
  }
  if (written < bytes.length) throw storageFull(file);
}

/** Writes a file whole, in place of what it held. */
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

/** A snapshot of the file; undefined where there is none. */
export async function readFile(folder: FileSystemDirectoryHandle, name: string): Promise<File | undefined> {
  try {
    return await (await folder.getFileHandle(name)).getFile();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Removes a file, or a folder with all in it, where there is one. */
export async function remove(folder: FileSystemDirectoryHandle, name: string): Promise<void> {
  try {
    await folder.removeEntry(name, { recursive: true });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof DOMException && error.name === "NotFoundError";
}

function isQuotaError(error: unknown): boolean {
  return error instanceof Error && error.name === "QuotaExceededError";
}

export function storageFull(file: string, cause?: unknown): ChorusError {
  return new ChorusError(
    "storage_full",
    `There is no room to store ${file}. Delete models that are not needed or free space on the disk, then download ` +
      "again: it goes on where it stopped.",
    file,
    { cause },
  );
}
