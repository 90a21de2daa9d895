// One stream of a file's bytes under all downloads. It goes on after breaks, stalls and pauses that the server asks for.

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

/** Bytes that are asked for once more after a break, to see that what follows is of the same file, at the same place. */
export const OVERLAP_BYTES = 4096;

/** The server's file is not the one whose download began, or it sent other bytes than it was asked for. */
export class ChangedOnServer extends Error {
  override readonly message = "the file changed on the server";
}

type Bytes = Uint8Array<ArrayBuffer>;

interface StreamOptions {
  /** Place of the first byte that is missing. [the first of the request's range] */
  readonly at?: number;
  /** The file's size, where something else than the server says it: a shorter answer has broken off. */
  readonly size?: number;
  /**
   * Whether something else proves that all answers are of one file, such as a hash. Else the download resumes only by ETag or
   * date, and what is there is compared with a file that is sent anew. [false]
   */
  readonly isPinned?: boolean;
  /** Returns bytes that are there. [nothing is compared] */
  readonly known?: (begin: number, end: number) => Uint8Array | Promise<Uint8Array>;
  /** Forgets what is there, since the server sends all of the file anew. Returns false if it has to stay. [it has to] */
  readonly startOver?: () => boolean | Promise<boolean>;
  /** Looks at each answer. Throws what ends the download. */
  readonly check?: (response: Response) => void;
  /** Called for each piece: its end's place in the file, and the file's size, which is null if the server does not give it. */
  readonly onBytes?: (doneBytes: number, totalBytes: number | null) => void;
}

/**
 * Yields the missing bytes of a file, or of the request's range, in order.
 * @throws ChangedOnServer, ChorusError model_download_failed, model_access_denied; what `check` throws; the signal's reason
 */
export async function* resumableBytes(
  http: HttpClient,
  request: HttpRequest,
  options: StreamOptions,
  signal?: AbortSignal,
): AsyncGenerator<Bytes> {
  const download = new Download(http, request, options, signal);
  const retries = http.retries(signal);
  /** What the best try has brought: a server that always breaks off at the same place makes no progress. */
  let mostBytes = download.at;
  while (!download.isComplete) {
    try {
      for await (const piece of download.attempt()) {
        if (download.at > mostBytes) retries.progressed();
        mostBytes = Math.max(mostBytes, download.at);
        yield piece;
      }
    } catch (error) {
      await retries.after(error);
    }
  }
}

/** Where a download is, from try to try. */
class Download {
  /** Place of the first byte that is missing. */
  at: number;
  isComplete: boolean;
  readonly #http: HttpClient;
  readonly #request: HttpRequest;
  readonly #options: StreamOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #from: number;
  /** Null: where an answer ends. */
  readonly #end: number | null;
  /** The file's size, as far as it is known. */
  #total: number | null;
  #version: string | null = null;
  /** Whether the next try asks for the rest only. */
  #resumes: boolean;

  constructor(http: HttpClient, request: HttpRequest, options: StreamOptions, signal: AbortSignal | undefined) {
    this.#http = http;
    this.#request = request;
    this.#options = options;
    this.#signal = signal;
    this.#from = request.range?.[0] ?? 0;
    this.#end = this.#total = request.range?.[1] ?? options.size ?? null;
    this.#resumes = options.isPinned ?? false;
    this.at = options.at ?? this.#from;
    this.isComplete = this.#end !== null && this.at >= this.#end;
  }

  /** Yields what one answer brings. @throws TransientFailure where it breaks off */
  async *attempt(): AsyncGenerator<Bytes> {
    const { known, check, onBytes, isPinned = false } = this.#options;
    const { range: wanted, ...whole } = this.#request;
    const begin = this.#resumes ? Math.max(this.#from, this.at - (known ? OVERLAP_BYTES : 0)) : 0;
    const range = [begin, this.#total ?? Number.MAX_SAFE_INTEGER] as const;
    const asksRange = this.#resumes && (begin > 0 || wanted !== undefined);
    const { response, pieces, close } = await this.#http.open(asksRange ? { ...whole, range } : whole, this.#signal);
    try {
      const isRest = this.#isRest(response, begin);
      if (response.status === 206 && !isRest) {
        this.#resumes = false;
        if (!asksRange) throw this.#broken("the server sent only a part of it");
        return;
      }
      check?.(response);
      if (!isRest) await this.#beginAnew(response);
      const knownEnd = this.at;
      let place = isRest ? begin : 0;
      for await (const piece of pieces()) {
        await this.#compare(piece, place, knownEnd, isRest);
        const numKnown = Math.min(Math.max(0, knownEnd - place), piece.length);
        const numBeyond = Math.max(0, place + piece.length - (this.#end ?? Infinity));
        const isNew = numKnown + numBeyond === 0;
        const received = (isNew ? piece : piece.slice(numKnown, piece.length - numBeyond)) as Bytes;
        if (!isNew) releaseBytes(piece);
        place += numKnown + received.length;
        // The rest belongs to what is there only once all of that is known to be of this version.
        if (!isPinned) this.#resumes = this.#version !== null && (isRest || place >= knownEnd);
        if (this.#total !== null && place > this.#total) this.#total = null;
        onBytes?.(place, this.#total);
        if (received.length === 0) continue;
        this.at = place;
        this.isComplete = place === this.#end;
        yield received;
        if (this.isComplete) return;
      }
      if (this.#end !== null) throw this.#broken("the connection ended early. Check the connection and try again");
      if (place < knownEnd) throw this.#differs(isRest);
      this.isComplete = true;
    } finally {
      close();
    }
  }

  /** Whether an answer is the range that was asked for, of the same file. @throws ChorusError model_download_failed */
  #isRest(response: Response, begin: number): boolean {
    if (response.status !== 206 || isPartOfCompressed(response)) return false;
    if (!this.#options.isPinned && versionOf(response) !== this.#version) return false;
    const sent = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
    if (sent !== undefined && Number(sent) !== begin)
      throw this.#broken("the server sent the wrong range of bytes").reason;
    return true;
  }

  async #beginAnew(response: Response): Promise<void> {
    const { startOver, isPinned } = this.#options;
    if (this.at > this.#from && (await startOver?.())) this.at = this.#from;
    if (!isPinned) this.#resumes = false;
    if (this.#end === null) this.#total = sizeOf(response);
    this.#version = versionOf(response);
  }

  /** Compares what is there with what has come once more. @throws ChangedOnServer; TransientFailure where the whole may fit */
  async #compare(piece: Uint8Array, place: number, knownEnd: number, isRest: boolean): Promise<void> {
    const [begin, end] = [Math.max(place, this.#from), Math.min(place + piece.length, knownEnd)];
    if (begin >= end) return;
    const there = await this.#options.known?.(begin, end);
    if (there?.some((byte, i) => byte !== piece[begin - place + i])) throw this.#differs(isRest);
  }

  #differs(isRest: boolean): Error {
    const changed = new ChangedOnServer();
    if (!isRest || this.#options.isPinned) return changed;
    this.#resumes = false;
    return this.#broken(changed.message);
  }

  #broken(reason: string): TransientFailure {
    return new TransientFailure(downloadFailed(this.#request.url, this.#request.file, reason));
  }
}
