import { ChorusError } from "../../protocol/errors.ts";
import type { IncomingFile, Missing } from "../model-files.ts";
import { releaseBytes } from "../release-bytes.ts";
import { whyMissing } from "../web-page.ts";
import { downloadFailed, type HttpClient, type HttpRequest } from "./http-client.ts";
import { ChangedOnServer, resumableBytes } from "./resumable-bytes.ts";

/** Minimum size of a Blob. */
const BLOB_BYTES = 2 ** 20;
/**
 * A larger file is kept in Blobs, which the browser may keep on disk, so it is never in JavaScript's memory as a whole. Parts
 * of a smaller one can be read at once: for each part of a Blob a thread waits about a millisecond for the browser. If the
 * size is unknown, the first 16 MiB stay in memory.
 */
const MAX_IN_MEMORY_BYTES = 16 * 2 ** 20;

type Bytes = Uint8Array<ArrayBuffer>;

interface Piece<Data extends Blob | Bytes = Blob | Bytes> {
  readonly begin: number;
  readonly end: number;
  readonly data: Data;
}

export class ArrivingFile implements IncomingFile {
  readonly size = null;
  #pieces: Piece[] = [];
  #bytes = 0;
  /** Bytes for the next Blob. */
  #gathered: Bytes[] = [];
  #gatheredBytes = 0;
  #waiters: (() => void)[] = [];
  /** Null while more may arrive; has an error if the download failed. */
  #ending: { readonly error: Error | null } | null = null;
  #isRead = false;

  async whole(): Promise<Blob> {
    await this.#upTo(Infinity);
    return new Blob(this.#pieces.map(({ data }) => data));
  }

  /** Returns a part, cut at the file's end, as with a Blob. @throws the same as `whole()` */
  slice(begin: number, end: number) {
    const read = async () => {
      await this.#upTo(end);
      return this.#read(begin, end);
    };
    return { arrayBuffer: read };
  }

  /** Returns bytes that have arrived. @throws ChorusError model_download_failed if they can't be read again */
  async known(begin: number, end: number): Promise<Bytes> {
    this.#gather();
    try {
      return new Uint8Array(await this.#read(begin, end));
    } catch (cause) {
      const message = `What has been downloaded could not be read again: ${String(cause)}`;
      throw new ChorusError("model_download_failed", message, null, { cause });
    }
  }

  /** @param totalBytes the file's size; null if the server does not give it */
  add(piece: Bytes, totalBytes: number | null): void {
    const bytes = this.#bytes + this.#gatheredBytes + piece.length;
    if ((totalBytes ?? bytes) <= MAX_IN_MEMORY_BYTES) {
      this.#gather();
      return this.#append(piece, piece.length);
    }
    this.#gathered.push(piece);
    this.#gatheredBytes += piece.length;
    if (this.#gatheredBytes >= BLOB_BYTES) this.#gather();
  }

  /** Forgets the bytes that have arrived, and returns true; returns false if somebody may have read them. */
  startOver(): boolean {
    if (this.#isRead) return false;
    this.#pieces = [];
    this.#gathered = [];
    this.#bytes = this.#gatheredBytes = 0;
    return true;
  }

  /** Ends the file; with an error if the download failed. */
  end(error: Error | null): void {
    this.#gather();
    this.#ending = { error };
    this.#wake();
  }

  #gather(): void {
    if (this.#gatheredBytes === 0) return;
    this.#append(new Blob(this.#gathered), this.#gatheredBytes);
    for (const piece of this.#gathered.splice(0)) releaseBytes(piece);
    this.#gatheredBytes = 0;
  }

  #append(data: Blob | Bytes, size: number): void {
    this.#pieces.push({ begin: this.#bytes, end: this.#bytes + size, data });
    this.#bytes += size;
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  /** Resolves when everything up to `end` has arrived, or the file has ended before. */
  async #upTo(end: number): Promise<void> {
    while (end > this.#bytes && this.#ending === null)
      await new Promise<void>((resolve) => this.#waiters.push(resolve));
    if (end > this.#bytes && this.#ending?.error) throw this.#ending.error;
    this.#isRead = true;
  }

  /** Reads a range, cut at the file's end. Joins only the pieces that it covers: a large file has thousands. */
  async #read(begin: number, end: number): Promise<ArrayBuffer> {
    const covering = this.#pieces.filter((piece) => piece.begin < end && piece.end > begin);
    if (covering.some(({ data }) => data instanceof Blob)) {
      const [first] = covering;
      const isOne = covering.length === 1 && first?.data instanceof Blob;
      const together = isOne ? first.data : new Blob(covering.map(({ data }) => data));
      const offset = first?.begin ?? 0;
      return together.slice(begin - offset, end - offset).arrayBuffer();
    }
    const part = new Uint8Array(Math.max(0, Math.min(end, this.#bytes) - begin));
    for (const { begin: offset, data } of covering as readonly Piece<Bytes>[]) {
      part.set(data.subarray(Math.max(0, begin - offset), end - offset), Math.max(0, offset - begin));
    }
    return part.buffer;
  }
}

/**
 * Begins to download a large file. Resolves when the server sends it. Resumes after a break if the server supports that, and
 * otherwise begins again. If the file has changed meanwhile and parts were read, the download fails.
 * @param onBytes `totalBytes` is null if the server gives no length, or only that of the compressed body
 * @param signal ends the download
 * @throws ChorusError model_download_failed, model_access_denied
 */
export function fetchFile(
  http: HttpClient,
  request: HttpRequest,
  onBytes: (doneBytes: number, totalBytes: number | null) => void,
  signal?: AbortSignal,
): Promise<ArrivingFile | Missing> {
  const { url, file: name } = request;
  return new Promise((resolve, reject) => {
    const file = new ArrivingFile();
    let size: number | null = null;
    let doneBytes = 0;
    const bytes = resumableBytes(
      http,
      request,
      {
        known: (begin, end) => file.known(begin, end),
        startOver: () => file.startOver(),
        check(response) {
          const why = whyMissing(response);
          resolve(why === null ? file : { missing: `There is no ${url} (${why}).` });
          if (why !== null) throw downloadFailed(url, name, "the file is no longer there");
        },
        onBytes: (done, total) => onBytes((doneBytes = done), (size = total)),
      },
      signal,
    );
    const download = async (): Promise<void> => {
      try {
        for await (const piece of bytes) file.add(piece, size);
        onBytes(doneBytes, doneBytes);
        file.end(null);
      } catch (error) {
        const reason = error instanceof ChangedOnServer ? downloadFailed(url, name, error.message) : (error as Error);
        file.end(reason);
        reject(reason);
      }
    };
    void download();
  });
}
