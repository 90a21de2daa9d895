import { ChorusError } from "../../protocol/errors.ts";
import { releaseBytes } from "../release-bytes.ts";
import {
  downloadFailed,
  isPartOfCompressed,
  sizeOf,
  TransientFailure,
  versionOf,
  type HttpClient,
  type HttpRequest,
} from "./http-client.ts";
import { isWebPage } from "./remote-folder.ts";
import type { Missing } from "./small-file.ts";

/** Least size of each Blob. The browser may keep Blobs on disk, so the whole file is never in JavaScript's memory. */
const PIECE_BYTES = 2 ** 20;
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
  /** The file, once all of it is there. @throws ChorusError model_download_failed; the reason of what aborted it */
  readonly whole: Promise<Blob>;
  readonly #arrival: Arrival;

  constructor(arrival: Arrival, whole: Promise<Blob>) {
    this.whole = whole;
    this.#arrival = arrival;
  }

  /** What is beyond the file's end is left out, as with a Blob. @throws what `whole` throws */
  slice(begin: number, end: number) {
    const read = async () => {
      await this.#arrival.upTo(end);
      return this.#arrival.slice(begin, end).arrayBuffer();
    };
    return { arrayBuffer: read };
  }
}

interface Piece {
  readonly begin: number;
  readonly blob: Blob;
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

  /** Joins only what the range covers: a large file has thousands of pieces, and each new Blob waits for the browser. */
  slice(begin: number, end: number): Blob {
    const covering = this.#pieces.filter((piece) => piece.begin < end && piece.begin + piece.blob.size > begin);
    const [first] = covering;
    const joined = first && covering.length === 1 ? first.blob : new Blob(covering.map(({ blob }) => blob));
    const offset = first?.begin ?? 0;
    return joined.slice(Math.max(0, begin - offset), Math.max(0, end - offset));
  }

  add(blob: Blob): void {
    if (blob.size === 0) return;
    this.#pieces.push({ begin: this.#bytes, blob });
    this.#bytes += blob.size;
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
    const download = async (): Promise<Blob> => {
      try {
        const missing = await receive(http, request, arrival, { onBytes, onBegun: () => resolve(file), signal });
        if (missing) {
          resolve(missing);
          throw downloadFailed(request.url, request.file, "the file is no longer there");
        }
        arrival.end(null);
        return arrival.slice(0, arrival.bytes);
      } catch (error) {
        arrival.end(error as Error);
        throw error;
      }
    };
    const file = new ArrivingFile(arrival, download());
    file.whole.catch(reject);
  });
}

interface ReceiveOptions {
  readonly onBytes: (doneBytes: number, totalBytes: number | null) => void;
  /** Called when the server sends the file; maybe again after a break. */
  readonly onBegun: () => void;
  readonly signal: AbortSignal | undefined;
}

async function receive(
  http: HttpClient,
  request: HttpRequest,
  arrival: Arrival,
  { onBytes, onBegun, signal }: ReceiveOptions,
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
    if (response.status === 404 || isWebPage(response)) {
      open.close();
      const answer =
        response.status === 404 ? "the server answered 404" : "the server answered with a web page instead";
      return { missing: `There is no ${url} (${answer}).` };
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
      onBegun();
    }
    let waiting: Uint8Array<ArrayBuffer>[] = [];
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
        if (overlap > 0 && !(await isEqual(arrival.slice(at, at + overlap), received))) {
          open.close();
          waiting = [];
          differs();
        }
        at += received.length;
        compared();
        if (total !== null && at > total) total = null;
        onBytes(at, total);
        const piece = overlap > 0 ? received.slice(overlap) : (received as Uint8Array<ArrayBuffer>);
        if (overlap > 0) releaseBytes(received);
        if (piece.length === 0) continue;
        if (at > mostBytes) progressed();
        mostBytes = Math.max(mostBytes, at);
        waiting.push(piece);
        waitingBytes += piece.length;
        if (waitingBytes >= PIECE_BYTES) handOver();
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

/** Whether bytes begin as a Blob does. @throws ChorusError model_download_failed if the Blob can't be read */
async function isEqual(blob: Blob, bytes: Uint8Array): Promise<boolean> {
  let expected: Uint8Array;
  try {
    expected = new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    const message = `What has been downloaded could not be read again: ${String(cause)}`;
    throw new ChorusError("model_download_failed", message, null, { cause });
  }
  for (let i = 0; i < expected.length; i++) if (expected[i] !== bytes[i]) return false;
  return true;
}
