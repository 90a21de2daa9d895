import { releaseBytes } from "../release-bytes.ts";
import {
  downloadFailed,
  sizeOf,
  TransientFailure,
  versionOf,
  type HttpClient,
  type HttpRequest,
} from "./http-client.ts";
import { isWebPage } from "./remote-folder.ts";
import type { Missing } from "./small-file.ts";

/** Size of each Blob. The browser may keep Blobs on disk, so the whole file is never in JavaScript's memory. */
const PIECE_BYTES = 4 * 2 ** 20;

/** Bytes that are asked for once more after a break, to see that what follows is of the same file, at the same place. */
const OVERLAP_BYTES = 4096;

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
  let version: string | null = null;
  /** The last bytes that have arrived. */
  let tail: Uint8Array = new Uint8Array();
  const startOver = () => {
    pieces.length = 0;
    done = 0;
    tail = new Uint8Array();
  };
  const changed = () =>
    new TransientFailure(downloadFailed(request.url, request.file, "the file changed on the server"));
  const missing = await http.withRetries(async (progressed): Promise<Missing | null> => {
    const begin = done - tail.length;
    const end = total ?? Number.MAX_SAFE_INTEGER;
    const open = await http.open(done > 0 ? { ...request, range: [begin, end] } : request);
    const { response } = open;
    if (response.status === 404 || isWebPage(response)) {
      open.close();
      const answer =
        response.status === 404 ? "the server answered 404" : "the server answered with a web page instead";
      return { missing: `There is no ${request.url} (${answer}).` };
    }
    const isSame = response.status === 206 && version !== null && versionOf(response) === version;
    if (!isSame) {
      startOver();
      if (response.status !== 200) {
        open.close();
        throw changed();
      }
      total = sizeOf(response);
      version = versionOf(response);
    }
    let waiting: Uint8Array<ArrayBuffer>[] = [];
    let waitingBytes = 0;
    const handOver = () => {
      pieces.push(new Blob(waiting));
      for (const piece of waiting) releaseBytes(piece);
      waiting = [];
      waitingBytes = 0;
    };
    /** What is still to be compared with what was there. */
    let known = isSame ? tail : new Uint8Array();
    try {
      for await (const received of open.pieces()) {
        const overlap = Math.min(known.length, received.length);
        const isEqual = received.subarray(0, overlap).every((byte, i) => byte === known[i]);
        known = known.subarray(overlap);
        if (!isEqual) {
          open.close();
          waiting = [];
          startOver();
          throw changed();
        }
        const piece = received.subarray(overlap);
        if (piece.length === 0) continue;
        tail = lastBytes(tail, piece);
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

/** Returns a copy of the last bytes of two pieces. */
function lastBytes(before: Uint8Array, piece: Uint8Array): Uint8Array {
  if (piece.length >= OVERLAP_BYTES) return piece.slice(-OVERLAP_BYTES);
  const kept = before.subarray(Math.max(0, before.length + piece.length - OVERLAP_BYTES));
  const bytes = new Uint8Array(kept.length + piece.length);
  bytes.set(kept);
  bytes.set(piece, kept.length);
  return bytes;
}
