// HTTP requests with retries. Transient failures are retried. Permanent ones throw an error that says what to do.

import { ChorusError } from "../../protocol/errors.ts";
import { joinedBytes } from "../joined-bytes.ts";
import { MAX_SMALL_FILE_BYTES, tooLarge } from "../model-files.ts";
import { isWebPage } from "../web-page.ts";

interface HttpClientOptions {
  readonly fetch?: typeof fetch;
  readonly wait?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
  /** Time without a byte after which a connection counts as lost. [15_000] */
  readonly stallMs?: number;
  /** Retries without a byte in between before giving up. [5] */
  readonly maxRetries?: number;
  /** Called when nothing has arrived for some seconds, and before a lost connection is tried again. */
  readonly onWaiting?: () => void;
  /** The clock, in milliseconds. */
  readonly now?: () => number;
}

/** Retries at an address that redirects for ever: each sends up to twenty requests. */
const MAX_REDIRECT_RETRIES = 1;
/** A download fails after this long without a byte. Pauses that the server asked for don't count. */
const PATIENCE_MS = 60_000;
/** A silence of this length is reported as waiting. */
const SILENCE_MS = 3000;
const FIRST_RETRY_MS = 500;
/** If a server asks for a longer pause, the request fails instead of waiting. */
const LONGEST_PAUSE_MS = 60_000;

/** A failure worth a retry. */
export class TransientFailure extends Error {
  readonly reason: ChorusError;
  readonly retryAfterMs: number | null;
  readonly maxRetries: number;

  constructor(reason: ChorusError, retryAfterMs: number | null = null, maxRetries = Infinity) {
    super(reason.message);
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    this.maxRetries = maxRetries;
  }
}

interface Retries {
  progressed(): void;
  /** Waits before the next attempt. @throws the failed attempt's error if it was the last; the signal's reason */
  after(error: unknown): Promise<void>;
}

export interface HttpRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The `param` of errors. */
  readonly file: string;
  /** Requests only bytes [begin, end). Servers may send the whole file. */
  readonly range?: readonly [begin: number, end: number];
  /** Whether the browser's HTTP cache may answer if the server can't be reached. [false] */
  readonly takesKept?: boolean;
  /** The model of a hub, "owner/name", that this is a request for: it may be gated. [none] */
  readonly hubId?: string;
}

/** Statuses by which servers and proxies refuse a range of a file that they would send whole. */
const REFUSED_RANGE: ReadonlySet<number> = new Set([400, 403, 405, 416, 500, 501]);

export class HttpClient {
  readonly #options: Required<HttpClientOptions>;

  constructor(options: HttpClientOptions = {}) {
    this.#options = {
      fetch: (input, init) => globalThis.fetch(input, init),
      wait: pause,
      stallMs: 15_000,
      maxRetries: 5,
      onWaiting: () => undefined,
      now: () => performance.now(),
      ...options,
    };
  }

  /** Returns a counter of one task's failures. `progressed` resets it. */
  retries(signal?: AbortSignal): Retries {
    signal?.throwIfAborted();
    let failures = 0;
    let sinceMs = this.#options.now();
    return {
      progressed: () => {
        failures = 0;
        sinceMs = this.#options.now();
      },
      after: async (error) => {
        signal?.throwIfAborted();
        if (!(error instanceof TransientFailure)) throw error;
        const { reason, retryAfterMs, maxRetries } = error;
        if (++failures > Math.min(maxRetries, this.#options.maxRetries) || (retryAfterMs ?? 0) > LONGEST_PAUSE_MS)
          throw reason;
        const pauseMs = retryAfterMs ?? FIRST_RETRY_MS * 2 ** (failures - 1);
        // The next attempt may stall as well.
        const untilMs = this.#options.now() + (retryAfterMs === null ? pauseMs : 0) + this.#options.stallMs;
        if (untilMs - sinceMs > PATIENCE_MS) throw reason;
        this.#options.onWaiting();
        await this.#options.wait(pauseMs, signal);
        signal?.throwIfAborted();
        sinceMs += retryAfterMs ?? 0;
      },
    };
  }

  /**
   * Makes one attempt. Returns responses with status 2xx or 404; all others throw. If a range is refused, it requests the whole
   * file at once.
   * @throws TransientFailure, ChorusError model_access_denied, model_download_failed; the signal's reason
   */
  async open(request: HttpRequest, signal?: AbortSignal): Promise<OpenResponse> {
    const { url, headers, file, range, takesKept = false } = request;
    // A separate controller can end a stalled connection without aborting the caller's work.
    const controller = new AbortController();
    const either = AbortSignal.any([controller.signal, ...(signal ? [signal] : [])]);
    const close = () => controller.abort();
    const lost = (cause: unknown) => {
      signal?.throwIfAborted();
      if (cause instanceof TransientFailure) return cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      return new TransientFailure(downloadFailed(url, file, `${reason}. ${CHECK_CONNECTION}`, cause));
    };
    const watch = async <T>(promise: Promise<T>): Promise<T> => {
      const timer = setTimeout(
        () => controller.abort(new Error(`nothing arrived for ${this.#options.stallMs / 1000} s`)),
        this.#options.stallMs,
      );
      const silence = setTimeout(this.#options.onWaiting, SILENCE_MS);
      try {
        return await promise;
      } catch (cause) {
        throw lost(cause);
      } finally {
        clearTimeout(timer);
        clearTimeout(silence);
      }
    };
    try {
      // The browser's cache might return a web page that was sent before the file existed. Some hosts refuse referrers.
      const whole: RequestInit = {
        headers,
        signal: either,
        cache: "no-cache",
        referrerPolicy: "no-referrer",
      };
      // With any other header the browser would send a CORS preflight first.
      const ask = range ? { ...whole, headers: { ...headers, Range: `bytes=${range[0]}-${range[1] - 1}` } } : whole;
      const failed = async (cause: unknown): Promise<Response> => {
        if (either.aborted) throw cause;
        // A fetch that CORS forbids fails like one without a connection.
        const other = range && (await this.#tryFetch(url, whole));
        if (other) return other;
        const kept = takesKept && (await this.#tryFetch(url, { ...ask, cache: "force-cache" }));
        if (kept && kept.ok && !isWebPage(kept)) return kept;
        if (!(await this.#redirects(url, ask))) throw cause;
        const why = "it redirects in a circle, or to a place that does not answer";
        throw new TransientFailure(downloadFailed(url, file, why, cause), null, MAX_REDIRECT_RETRIES);
      };
      let response = await watch(this.#options.fetch(url, ask).catch(failed));
      if (range && REFUSED_RANGE.has(response.status)) {
        void response.body?.cancel();
        response = await watch(this.#options.fetch(url, whole));
      }
      refuseStatus(response, request);
      return { response, pieces: () => pieces(response, watch, close), close };
    } catch (error) {
      close();
      throw error;
    }
  }

  /** Returns whether an address that can't be fetched redirects. A failed fetch doesn't say why it failed. */
  async #redirects(url: string, ask: RequestInit): Promise<boolean> {
    const { type, status = 0 } = (await this.#tryFetch(url, { ...ask, redirect: "manual" })) ?? {};
    return type === "opaqueredirect" || (status >= 300 && status < 400);
  }

  /** Returns null where the fetch fails. */
  #tryFetch(url: string, ask: RequestInit): Promise<Response | null> {
    return this.#options.fetch(url, ask).catch(() => null);
  }
}

interface OpenResponse {
  readonly response: Response;
  /** Streams the body. Leaving the loop closes the connection. */
  readonly pieces: () => AsyncGenerator<Uint8Array>;
  /** Closes the connection without reading the body. */
  readonly close: () => void;
}

export interface Body {
  readonly response: Response;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * Reads a whole body. Each retry starts at the beginning.
 * @throws ChorusError model_access_denied, model_download_failed; model_invalid for a body beyond the limit; the signal's reason
 */
export async function readAll(http: HttpClient, request: HttpRequest, signal?: AbortSignal): Promise<Body> {
  const retries = http.retries(signal);
  for (;;) {
    try {
      const { response, pieces: arriving } = await http.open(request, signal);
      const parts: Uint8Array[] = [];
      let length = 0;
      for await (const piece of arriving()) {
        parts.push(piece);
        length += piece.length;
        if (length > MAX_SMALL_FILE_BYTES) throw tooLarge(request.file, length);
      }
      return { response, bytes: joinedBytes(parts) };
    } catch (error) {
      await retries.after(error);
    }
  }
}

/** The likeliest mistake in a name that the hub doesn't have: "models/x" without its last slash is one of the hub. */
export const A_FOLDER = "If you mean a folder of this site, end it with a slash";
const CHECK_CONNECTION = "Check the connection and try again";

async function* pieces(response: Response, watch: <T>(promise: Promise<T>) => Promise<T>, close: () => void) {
  const reader = response.body?.getReader();
  const next = async () => (reader ? (await watch(reader.read())).value : undefined);
  try {
    for (let piece = await next(); piece !== undefined; piece = await next()) yield piece;
  } finally {
    close();
  }
}

function refuseStatus(response: Response, { url, file, headers, hubId }: HttpRequest): void {
  const { status, statusText } = response;
  if (response.ok || status === 404) return;
  if (status === 401 || status === 403) {
    const wants = status === 401 ? "It wants a login" : "It refuses this file";
    const advice =
      "Authorization" in headers
        ? "The token given may not read this model: accept its terms on the hub, or give another token"
        : `It is private or gated, or it does not exist: check its name, or give a token that may read it. ${A_FOLDER}`;
    const message =
      hubId === undefined
        ? `${url} may not be read (the server answered ${status}). ${wants}: check the address, and what the server allows.`
        : `The hub refuses access to ${hubId} (${status}). ${advice}.`;
    throw new ChorusError("model_access_denied", message, file);
  }
  const answered = `the server answered ${`${status} ${statusText}`.trimEnd()}`;
  if (status === 429) {
    const ms = requestedPauseMs(response);
    const when = ms === null ? "in some minutes" : `in ${Math.ceil(ms / 1000)} s`;
    const reason = downloadFailed(url, file, `${answered}: too many requests. Try again ${when}`);
    throw new TransientFailure(reason, ms);
  }
  if (status === 408 || status >= 500) {
    const reason = downloadFailed(url, file, `${answered}. Try again later`);
    throw new TransientFailure(reason, requestedPauseMs(response));
  }
  throw downloadFailed(url, file, answered);
}

/** Returns Retry-After in ms. The header has seconds or a date. */
function requestedPauseMs(response: Response): number | null {
  const text = response.headers.get("retry-after");
  if (text === null || text.trim() === "") return null;
  const ms = /^\s*\d+\s*$/.test(text) ? 1000 * Number(text) : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

/** Returns the whole file's size from "bytes 0-99/1000" or from the length of an uncompressed body; else null. */
export function sizeOf(response: Response): number | null {
  const { headers, status } = response;
  const text = status === 206 ? headers.get("content-range")?.split("/")[1] : headers.get("content-length");
  if (status !== 206 && (headers.get("content-encoding") ?? "identity") !== "identity") return null;
  return text && /^\d+$/.test(text) ? Number(text) : null;
}

/** Returns the file's ETag or date, which changes with the file; null if the server sends neither. */
export function versionOf({ headers }: Response): string | null {
  // A server of another origin must allow pages to see its ETag.
  return headers.get("etag") ?? headers.get("last-modified");
}

/** Returns whether a part of a compressed body was sent, which can't be unpacked: then request the whole file. */
export function isPartOfCompressed({ status, headers }: Response): boolean {
  return status === 206 && (headers.get("content-encoding") ?? "identity") !== "identity";
}

export function downloadFailed(url: string, file: string, reason: string, cause?: unknown): ChorusError {
  return new ChorusError("model_download_failed", `Downloading ${url} failed: ${reason}.`, file, { cause });
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
}
