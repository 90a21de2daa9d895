import { whyMissing } from "../web-page.ts";
import { MAX_SMALL_FILE_BYTES, type IncomingFile, type Missing } from "../model-files.ts";
import { joinedBytes } from "../joined-bytes.ts";
import { sizeOf, versionOf, type Body, type HttpClient, type HttpRequest } from "./http-client.ts";
import { resumableBytes } from "./resumable-bytes.ts";

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
  readonly #fetch: (begin: number, end: number) => Promise<Body>;

  private constructor({ bytes, response }: Body, fetch: (begin: number, end: number) => Promise<Body>) {
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
    const fetch = (begin: number, end: number) => fetchPart(http, { ...request, range: [begin, end] }, signal);
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

class NotThere extends Error {}

/** Fetches a range, or less if the file ends before; nothing if it isn't there. */
async function fetchPart(http: HttpClient, request: HttpRequest, signal?: AbortSignal): Promise<Body> {
  const pieces: Uint8Array[] = [];
  let response = Response.error();
  const check = (answer: Response) => {
    response = answer;
    if (whyMissing(answer) !== null) throw new NotThere();
  };
  try {
    const options = { isPinned: true, mayEndBefore: true, check };
    for await (const piece of resumableBytes(http, request, options, signal)) pieces.push(piece);
  } catch (error) {
    if (!(error instanceof NotThere)) throw error;
  }
  return { bytes: joinedBytes(pieces), response };
}
