import { openForWriting, readFile, writeAll, type SyncAccessHandle } from "./opfs.ts";

export const RECEIVED_LOG = "received.log";

/**
 * How far a download has come: lines "part bytes", appended, the last of a part counts. A line is written when its bytes
 * are on the disk, and one that a crash cut short is not read; so what is logged is there.
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

  /** Bytes received, by part. */
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
