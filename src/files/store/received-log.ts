import { partsOf, type Part } from "./part.ts";
import { totalBytes, type DownloadPlan } from "./records.ts";
import { openForWriting, readFile, writeAll, type SyncAccessHandle } from "./opfs.ts";

export const RECEIVED_LOG = "received.log";

/**
 * A download's progress on disk. Each line is "part bytes"; the last line of a part counts. A line is appended after its
 * bytes are on the disk, and a line that a crash cut short is ignored, so logged bytes always exist.
 */
export class ReceivedLog {
  readonly #handle: SyncAccessHandle;
  #end: number;

  private constructor(handle: SyncAccessHandle) {
    this.#handle = handle;
    this.#end = handle.getSize();
  }

  static async open(folder: FileSystemDirectoryHandle): Promise<ReceivedLog> {
    return new ReceivedLog(await openForWriting(folder, RECEIVED_LOG));
  }

  /** Returns the bytes received per part. */
  static async read(folder: FileSystemDirectoryHandle): Promise<ReadonlyMap<number, number>> {
    const text = (await (await readFile(folder, RECEIVED_LOG))?.text()) ?? "";
    const lines = [...text.matchAll(/^(\d+) (\d+)\n/gm)];
    return new Map(lines.map(([, part, received]) => [Number(part), Number(received)]));
  }

  append(part: number, received: number): void {
    const line = new TextEncoder().encode(`${part} ${received}\n`);
    writeAll(this.#handle, line, this.#end, RECEIVED_LOG);
    this.#end += line.length;
    this.#handle.flush();
  }

  close(): void {
    this.#handle.close();
  }
}

/** Returns the parts of a planned download, and how much of it has been received. */
export async function partsSoFar(folder: FileSystemDirectoryHandle, plan: DownloadPlan) {
  const parts: readonly Part[] = partsOf(plan.weights, await ReceivedLog.read(folder));
  const all = totalBytes(plan) + totalBytes({ files: plan.weights });
  const missing = parts.reduce((sum, { length, received }) => sum + length - received, 0);
  return { parts, sizes: { receivedBytes: all - missing, totalBytes: all } };
}
