import { releaseBytes } from "../release-bytes.ts";
import { sizeOf, TransientFailure, downloadFailed, type HttpClient, type HttpRequest } from "./http-client.ts";
import { isWebPage } from "./remote-folder.ts";
import type { Missing } from "./small-file.ts";

/** Size of each Blob. The browser may keep Blobs on disk, so the whole file is never in JavaScript's memory. */
const PIECE_BYTES = 4 * 2 ** 20;

/**
 * Downloads a large file into a Blob. `totalBytes` is null if the server gives no length, or only that of the compressed
 * body. Resumes after a break if the server supports it.
 *
 * @throws ChorusError model_download_failed, model_access_denied
 */
export async function streamToBlob(
  http: HttpClient,
  request: HttpRequest,
  onBytes: (doneBytes: number, totalBytes: number | null) => void,
): Promise<Blob | Missing> {
  const pieces: Blob[] = [];
  let done = 0;
  let total: number | null = null;
  let etag: string | null = null;
  const missing = await http.withRetries(async (progressed): Promise<Missing | null> => {
    const open = await http.open(done > 0 ? { ...request, range: [done, total ?? Number.MAX_SAFE_INTEGER] } : request);
    const { response } = open;
    if (response.status === 404 || isWebPage(response)) {
      open.close();
      const answer =
        response.status === 404 ? "the server answered 404" : "the server answered with a web page instead";
      return { missing: `There is no ${request.url} (${answer}).` };
    }
    const isSame = response.status === 206 && etag !== null && response.headers.get("etag") === etag;
    if (!isSame) {
      pieces.length = 0;
      done = 0;
      if (response.status !== 200) {
        open.close();
        throw new TransientFailure(downloadFailed(request.url, request.file, "the file changed on the server"));
      }
      total = sizeOf(response);
      etag = response.headers.get("etag");
    }
    let waiting: Uint8Array<ArrayBuffer>[] = [];
    let waitingBytes = 0;
    const handOver = () => {
      pieces.push(new Blob(waiting));
      for (const piece of waiting) releaseBytes(piece);
      waiting = [];
      waitingBytes = 0;
    };
    try {
      for await (const piece of open.pieces()) {
        waiting.push(piece as Uint8Array<ArrayBuffer>);
        waitingBytes += piece.length;
        done += piece.length;
        if (total !== null && done > total) total = null;
        onBytes(done, total);
        if (isSame) progressed();
        if (waitingBytes >= PIECE_BYTES) handOver();
      }
    } finally {
      handOver();
    }
    return null;
  });
  if (missing) return missing;
  onBytes(done, done);
  return new Blob(pieces);
}
