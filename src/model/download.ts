import { ChorusError } from "../protocol/errors.ts";

/** There is no such file; the sentence says where it was looked for. */
export interface Missing {
  readonly missing: string;
}

/**
 * Fetches a file, telling of each part that arrives. `totalBytes` is null where the server does not say how long the
 * file is: no content-length, or one that counts compressed bytes.
 *
 * Missing is a file for which the server answers 404, or a web page: servers of single-page apps do that for every path
 * they don't know.
 *
 * @throws ChorusError model_download_failed
 */
export async function download(
  url: string,
  fetch: typeof globalThis.fetch,
  onBytes: (doneBytes: number, totalBytes: number | null) => void,
): Promise<Uint8Array<ArrayBuffer> | Missing> {
  const response = await orFail(url, fetch(url));
  if (response.status === 404) return { missing: `There is no ${url} (the server answered 404).` };
  if (!response.ok) throw failed(url, `the server answered ${response.status} ${response.statusText}`.trimEnd());
  if (isWebPage(response)) return { missing: `There is no ${url} (the server answered with a web page instead).` };
  return orFail(url, readBody(response, onBytes));
}

function isWebPage(response: Response): boolean {
  return response.headers.get("content-type")?.startsWith("text/html") ?? false;
}

async function readBody(
  response: Response,
  onBytes: (doneBytes: number, totalBytes: number | null) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  let total = contentLength(response);
  let buffer = new Uint8Array(total ?? 2 ** 16);
  let done = 0;
  const reader = response.body?.getReader();
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    const { value } = part;
    if (done + value.length > buffer.length) {
      total = null; // compressed on the way, and the length was that of the compressed bytes
      const larger = new Uint8Array(Math.max(2 * buffer.length, done + value.length));
      larger.set(buffer.subarray(0, done));
      buffer = larger;
    }
    buffer.set(value, done);
    done += value.length;
    onBytes(done, total);
  }
  onBytes(done, done);
  return done === buffer.length ? buffer : buffer.slice(0, done);
}

function contentLength(response: Response): number | null {
  const encoding = response.headers.get("content-encoding") ?? "identity";
  const length = Number(response.headers.get("content-length") ?? NaN);
  return encoding === "identity" && Number.isSafeInteger(length) && length > 0 ? length : null;
}

async function orFail<T>(url: string, promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (cause) {
    throw failed(url, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function failed(url: string, reason: string, options?: ErrorOptions): ChorusError {
  return new ChorusError("model_download_failed", `Downloading ${url} failed: ${reason}.`, "model", options);
}
