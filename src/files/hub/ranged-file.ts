import { whyMissing } from "../web-page.ts";
import { MAX_SMALL_FILE_BYTES, type IncomingFile, type Missing } from "../model-files.ts";
import {
  downloadFailed,
  isPartOfCompressed,
  sizeOf,
  TransientFailure,
  versionOf,
  type HttpClient,
  type HttpRequest,
} from "./http-client.ts";

interface RangedOptions {
  /** Bytes that are fetched at once. */
  readonly firstBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A file on a server of which only what is asked for is fetched: a header, before anybody wants the rest. */
export class RangedFile implements IncomingFile {
  readonly size: number | null;
  /** The file's ETag or date; null if the server sends none. */
  readonly version: string | null;
  /** Whether the server sends parts of the file. */
  readonly takesRanges: boolean;
  readonly #beginning: Uint8Array<ArrayBuffer>;
  readonly #fetch: (begin: number, end: number) => Promise<Fetched>;

  private constructor({ bytes, response }: Fetched, fetch: (begin: number, end: number) => Promise<Fetched>) {
    this.size = sizeOf(response);
    this.version = versionOf(response);
    this.takesRanges = response.status === 206;
    this.#beginning = bytes;
    this.#fetch = fetch;
  }

  /** @throws ChorusError model_download_failed, model_access_denied; the signal's reason */
  static async open(
    http: HttpClient,
    request: HttpRequest,
    { firstBytes, signal }: RangedOptions,
  ): Promise<RangedFile | (Missing & { readonly why: string })> {
    const fetch = (begin: number, end: number) =>
      http.withRetries(() => fetchPart(http, request, begin, end, signal), signal);
    const first = await fetch(0, Math.max(1, firstBytes));
    const why = whyMissing(first.response);
    return why === null ? new RangedFile(first, fetch) : { missing: `There is no ${request.url} (${why}).`, why };
  }

  slice(begin: number, end: number) {
    const read = async () => {
      const known = this.#beginning;
      if (end <= known.length || known.length === this.size) return known.slice(begin, end).buffer;
      const { bytes } = await this.#fetch(begin, end);
      return bytes.buffer;
    };
    return { arrayBuffer: read };
  }

  async whole(): Promise<Blob> {
    return new Blob([await this.slice(0, this.size ?? MAX_SMALL_FILE_BYTES).arrayBuffer()]);
  }
}

interface Fetched {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly response: Response;
}

/** Fetches bytes [begin, end), or fewer if the file ends before. */
async function fetchPart(
  http: HttpClient,
  request: HttpRequest,
  begin: number,
  end: number,
  signal?: AbortSignal,
  asRange = true,
): Promise<Fetched> {
  const { response, pieces, close } = await http.open(asRange ? { ...request, range: [begin, end] } : request, signal);
  if (isPartOfCompressed(response)) {
    close();
    return fetchPart(http, request, begin, end, signal, false);
  }
  if (whyMissing(response) !== null) {
    close();
    return { bytes: new Uint8Array(), response };
  }
  const sent = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
  if (response.status === 206 && sent !== undefined && Number(sent) !== begin) {
    close();
    throw downloadFailed(request.url, request.file, "the server sent the wrong range of bytes");
  }
  // A server that ignores ranges sends the file from its beginning.
  let at = response.status === 206 ? begin : 0;
  const bytes = new Uint8Array(end - begin);
  let length = 0;
  for await (const piece of pieces()) {
    const part = piece.subarray(Math.max(0, begin - at), Math.max(0, end - at));
    bytes.set(part, length);
    length += part.length;
    at += piece.length;
    if (length === bytes.length) break;
  }
  if (length < bytes.length && (sizeOf(response) ?? 0) >= end)
    throw new TransientFailure(downloadFailed(request.url, request.file, "the connection ended early"));
  return { bytes: bytes.slice(0, length), response };
}
