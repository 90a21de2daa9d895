import { ChorusError } from "../../protocol/errors.ts";
import { releaseBytes } from "../release-bytes.ts";
import { whyMissing } from "../web-page.ts";
import {
  downloadFailed,
  isPartOfCompressed,
  sizeOf,
  TransientFailure,
  versionOf,
  type HttpClient,
  type HttpRequest,
} from "./http-client.ts";
import type { Missing } from "./small-file.ts";

/** Least size of a Blob. */
const BLOB_BYTES = 2 ** 20;
/**
 * A larger file is kept in Blobs, which the browser may keep on disk, so it is never in JavaScript's memory as a whole. Of a
 * smaller one parts are at hand at once: for each part of a Blob a thread waits for the browser, about a millisecond. Of a
 * file of unknown size the first 16 MiB stay in memory.
 */
const MAX_IN_MEMORY_BYTES = 16 * 2 ** 20;
/** Bytes that are asked for once more after a break, to see that what follows is of the same file, at the same place. */
const OVERLAP_BYTES = 4096;

/** A file that is read in parts. A Blob is one. */
export interface ReadableFile {
  /** Null while it arrives: servers tell the size of what they compress, or none. */
  readonly size: number | null;
  slice(begin: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** A file on its way: a part can be read as soon as it is there. */
export class ArrivingFile implements ReadableFile {
  readonly size = null;
  readonly #arrival: Arrival;
  readonly #hasEnded: Promise<void>;

  constructor(arrival: Arrival, hasEnded: Promise<void>) {
    this.#arrival = arrival;
    this.#hasEnded = hasEnded;
  }

  /** Resolves to the file once all of it is there. @throws ChorusError model_download_failed; what aborted it */
  async whole(): Promise<Blob> {
    await this.#hasEnded;
    return this.#arrival.toBlob();
  }

  /** What is beyond the file's end is left out, as with a Blob. @throws what `whole()` throws */
  slice(begin: number, end: number) {
    const read = async () => {
      await this.#arrival.upTo(end);
      return this.#arrival.read(begin, end);
    };
    return { arrayBuffer: read };
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

interface Piece<Data extends Blob | Bytes = Blob | Bytes> {
  readonly begin: number;
  readonly end: number;
  readonly data: Data;
}

interface Waiter {
  readonly end: number;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** What has arrived of a file, and who waits for more. */
class Arrival {
  #pieces: Piece[] = [];
  #bytes = 0;
  #waiters: Waiter[] = [];
  /** Null while more may come; with an error nothing more will. */
  #ending: { readonly error: Error | null } | null = null;
  #isRead = false;

  /** Bytes that have arrived. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether somebody may have read what has arrived: then nothing else may take its place. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** What is beyond it is left out. Joins only the pieces that the range covers: a large file has thousands. */
  async read(begin: number, end: number): Promise<ArrayBuffer> {
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

  /** Returns all that is there. */
  toBlob(): Blob {
    return new Blob(this.#pieces.map(({ data }) => data));
  }

  add(data: Blob | Bytes): void {
    const size = data instanceof Blob ? data.size : data.length;
    if (size === 0) return;
    this.#pieces.push({ begin: this.#bytes, end: this.#bytes + size, data });
    this.#bytes += size;
    const ready = this.#waiters.filter(({ end }) => end <= this.#bytes);
    this.#waiters = this.#waiters.filter(({ end }) => end > this.#bytes);
    if (ready.length > 0) this.#isRead = true;
    for (const { resolve } of ready) resolve();
  }

  startOver(): void {
    this.#pieces = [];
    this.#bytes = 0;
  }

  /** Resolves when everything up to `end` is there, or the file has ended before. */
  upTo(end: number): Promise<void> {
    if (end <= this.#bytes) {
      this.#isRead = true;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      this.#waiters.push({ end, resolve, reject });
      this.#settle();
    });
  }

  /** Nothing more comes: with an error, because it failed. Settles who waits, now and later. */
  end(error: Error | null): void {
    this.#ending = { error };
    this.#settle();
  }

  #settle(): void {
    if (this.#ending === null) return;
    const { error } = this.#ending;
    for (const { resolve, reject } of this.#waiters.splice(0)) {
      if (error) reject(error);
      else resolve();
    }
  }
}

/**
 * Begins to download a large file. Resolves when the server sends it. Resumes after a break if the server supports it, and else
 * begins again. What has been read from is never replaced: if the file has changed meanwhile, the download fails.
 *
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
  return new Promise((resolve, reject) => {
    const arrival = new Arrival();
    const download = async (): Promise<void> => {
      try {
        const missing = await receive(http, request, arrival, { onBytes, onStart: () => resolve(file), signal });
        if (missing) {
          resolve(missing);
          throw downloadFailed(request.url, request.file, "the file is no longer there");
        }
        arrival.end(null);
      } catch (error) {
        arrival.end(error as Error);
        throw error;
      }
    };
    const hasEnded = download();
    const file = new ArrivingFile(arrival, hasEnded);
    hasEnded.catch(reject);
  });
}

interface ReceiveOptions {
  readonly onBytes: (doneBytes: number, totalBytes: number | null) => void;
  /** Called when the server sends the file; maybe again after a break. */
  readonly onStart: () => void;
  readonly signal: AbortSignal | undefined;
}

async function receive(
  http: HttpClient,
  request: HttpRequest,
  arrival: Arrival,
  { onBytes, onStart, signal }: ReceiveOptions,
): Promise<Missing | null> {
  const { url, file } = request;
  const changed = () => downloadFailed(url, file, "the file changed on the server");
  let total: number | null = null;
  let version: string | null = null;
  /** Whether the next try asks for the rest only. */
  let resumes = false;
  /** What the best try so far has brought: a server that always breaks off at the same place makes no progress. */
  let mostBytes = 0;
  const missing = await http.withRetries(async (progressed): Promise<Missing | null> => {
    const begin = resumes ? Math.max(0, arrival.bytes - OVERLAP_BYTES) : 0;
    const range = [begin, total ?? Number.MAX_SAFE_INTEGER] as const;
    const open = await http.open(begin > 0 ? { ...request, range } : request, signal);
    const { response } = open;
    const why = whyMissing(response);
    if (why !== null) {
      open.close();
      return { missing: `There is no ${url} (${why}).` };
    }
    const isPart = response.status === 206 && !isPartOfCompressed(response);
    const isRest = begin > 0 && isPart && versionOf(response) === version;
    if (!isRest) {
      resumes = false;
      // What somebody has read is kept, to be compared with what comes now.
      if (!arrival.isRead) arrival.startOver();
      if (response.status !== 200) {
        open.close();
        throw new TransientFailure(changed());
      }
      total = sizeOf(response);
      version = versionOf(response);
      onStart();
    }
    let waiting: Bytes[] = [];
    let waitingBytes = 0;
    const handOver = () => {
      arrival.add(new Blob(waiting));
      for (const piece of waiting) releaseBytes(piece);
      waiting = [];
      waitingBytes = 0;
    };
    const differs = () => {
      resumes = false;
      if (arrival.isRead && !isRest) throw changed();
      if (!arrival.isRead) arrival.startOver();
      throw new TransientFailure(changed());
    };
    /** What an earlier try has brought. */
    const knownBytes = arrival.bytes;
    /** Place of the next byte in the file. */
    let at = isRest ? begin : 0;
    // The rest belongs to what is there only once all of that is known to be of this version.
    const compared = () => void (resumes = version !== null && (isRest || at >= knownBytes));
    try {
      compared();
      for await (const received of open.pieces()) {
        const overlap = Math.min(Math.max(0, knownBytes - at), received.length);
        if (overlap > 0 && !(await beginsWith(received, arrival.read(at, at + overlap)))) {
          open.close();
          waiting = [];
          differs();
        }
        at += received.length;
        compared();
        if (total !== null && at > total) total = null;
        onBytes(at, total);
        const piece = overlap > 0 ? received.slice(overlap) : (received as Bytes);
        if (overlap > 0) releaseBytes(received);
        if (piece.length === 0) continue;
        if (at > mostBytes) progressed();
        mostBytes = Math.max(mostBytes, at);
        if ((total ?? at) <= MAX_IN_MEMORY_BYTES) {
          arrival.add(piece);
          continue;
        }
        waiting.push(piece);
        waitingBytes += piece.length;
        if (waitingBytes >= BLOB_BYTES) handOver();
      }
      if (at < knownBytes) differs();
    } finally {
      handOver();
    }
    return null;
  }, signal);
  if (missing === null) onBytes(arrival.bytes, arrival.bytes);
  return missing;
}

/** @throws ChorusError model_download_failed if the beginning can't be read again */
async function beginsWith(bytes: Uint8Array, beginning: Promise<ArrayBuffer>): Promise<boolean> {
  let expected: Uint8Array;
  try {
    expected = new Uint8Array(await beginning);
  } catch (cause) {
    const message = `What has been downloaded could not be read again: ${String(cause)}`;
    throw new ChorusError("model_download_failed", message, null, { cause });
  }
  for (let i = 0; i < expected.length; i++) if (expected[i] !== bytes[i]) return false;
  return true;
}
