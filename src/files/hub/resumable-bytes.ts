// The stream of a file's bytes that all downloads use. It resumes after breaks, stalls and pauses that the server requests.

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

/** Bytes that are requested again after a break, to check that the rest belongs to the same file and place. */
export const OVERLAP_BYTES = 4096;

/** The server's file is not the one whose download began, or it sent other bytes than requested. */
export class ChangedOnServer extends Error {
  override readonly message = "the file changed on the server";
}

type Bytes = Uint8Array<ArrayBuffer>;

interface StreamOptions {
  /** Offset of the first missing byte. [the first of the request's range] */
  readonly at?: number;
  /** The file's size, if known from elsewhere than this server: a shorter answer is incomplete. */
  readonly size?: number;
  /**
   * Whether something else, such as a hash, proves that all answers belong to one file. Otherwise the download resumes only by
   * ETag or date, and a file that is sent again is compared with the known bytes. [false]
   */
  readonly isPinned?: boolean;
  /** Whether the file may be shorter than the range. [false: such an answer is incomplete] */
  readonly mayEndBefore?: boolean;
  /** Returns bytes that have arrived before. [nothing is compared] */
  readonly known?: (begin: number, end: number) => Uint8Array | Promise<Uint8Array>;
  /** Forgets all bytes, since the server sends the whole file again. Returns false if they must stay. [they must] */
  readonly startOver?: () => boolean | Promise<boolean>;
  /** Checks each answer. An error that it throws ends the download. */
  readonly check?: (response: Response) => void;
  /** Called for each piece with its end's offset in the file, and the file's size, or null if the server does not give it. */
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
  /** Offset that the best attempt has reached: a server that always breaks off at the same place makes no progress. */
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

/** A download's state across attempts. */
class Download {
  /** Offset of the first missing byte. */
  at: number;
  isComplete: boolean;
  readonly #http: HttpClient;
  readonly #request: HttpRequest;
  readonly #options: StreamOptions;
  readonly #signal: AbortSignal | undefined;
  readonly #from: number;
  /** Offset of the download's end; null for the end of an answer. */
  readonly #end: number | null;
  /** The file's size; null while unknown. */
  #total: number | null;
  #version: string | null = null;
  /** Whether the next attempt requests the rest only. */
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

  /** Yields one answer's new bytes. @throws TransientFailure if it breaks off */
  async *attempt(): AsyncGenerator<Bytes> {
    const { known, check, onBytes, isPinned = false } = this.#options;
    const { range: requestedRange, ...whole } = this.#request;
    const begin = this.#resumes ? Math.max(this.#from, this.at - (known ? OVERLAP_BYTES : 0)) : 0;
    const range = [begin, this.#total ?? Number.MAX_SAFE_INTEGER] as const;
    const asksRange = this.#resumes && (begin > 0 || requestedRange !== undefined);
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
        const newBytes = (isNew ? piece : piece.slice(numKnown, piece.length - numBeyond)) as Bytes;
        if (!isNew) releaseBytes(piece);
        place += numKnown + newBytes.length;
        // The rest may be requested alone only once all known bytes are proved to be of this version.
        if (!isPinned) this.#resumes = this.#version !== null && (isRest || place >= knownEnd);
        if (this.#total !== null && place > this.#total) this.#total = null;
        onBytes?.(place, this.#total);
        if (newBytes.length === 0) continue;
        this.at = place;
        this.isComplete = place === this.#end;
        yield newBytes;
        if (this.isComplete) return;
      }
      const isShort = this.#options.mayEndBefore && (sizeOf(response) ?? 0) < (this.#end ?? 0);
      if (this.#end !== null && !isShort)
        throw this.#broken("the connection ended early. Check the connection and try again");
      if (place < knownEnd && !isShort) throw this.#differs(isRest);
      this.isComplete = true;
    } finally {
      close();
    }
  }

  /** Returns whether an answer is the requested range of the same file. @throws ChorusError model_download_failed */
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

  /** Compares known bytes with repeated ones. @throws ChangedOnServer; TransientFailure if the whole file may still match */
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
