import { releaseBytes } from "../release-bytes.ts";
import { downloadFailed, isPartOfCompressed, sizeOf, TransientFailure, type HttpClient } from "../hub/http-client.ts";
import { isWebPage, type RemoteFolder } from "../hub/remote-folder.ts";
import type { WeightsPlan } from "./records.ts";

/** Small enough for several in parallel, large enough that requests cost little. */
const PART_BYTES = 8 * 2 ** 20;

/** A range of a weights file that one request fetches. */
export interface Part {
  readonly index: number;
  readonly weights: WeightsPlan;
  readonly remoteBegin: number;
  readonly localBegin: number;
  readonly length: number;
  /** Bytes of it received so far. */
  received: number;
}

/** The server's file is not the one whose download began. */
export class ChangedOnServer extends Error {}

/** Returns the same parts in the same order for the same plan, so that a part's index stays valid after a reload. */
export function partsOf(weights: readonly WeightsPlan[], received: ReadonlyMap<number, number>): Part[] {
  const parts: Part[] = [];
  for (const file of weights) {
    for (const { remoteBegin, localBegin, length } of file.segments) {
      for (let at = 0; at < length; at += PART_BYTES) {
        const index = parts.length;
        const partLength = Math.min(PART_BYTES, length - at);
        parts.push({
          index,
          weights: file,
          remoteBegin: remoteBegin + at,
          localBegin: localBegin + at,
          length: partLength,
          received: Math.min(partLength, received.get(index) ?? 0),
        });
      }
    }
  }
  return parts;
}

/**
 * Fetches the missing bytes of a part and passes them to `write` in order. Resumes when the connection breaks.
 * @throws ChangedOnServer, ChorusError model_download_failed, model_access_denied; the signal's reason
 */
export async function fetchPart(
  http: HttpClient,
  remote: RemoteFolder,
  part: Part,
  write: (bytes: Uint8Array, localBegin: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const { weights } = part;
  const request = remote.request(weights.name);
  let takesRanges = true;
  await http.withRetries(async (progressed) => {
    if (part.received >= part.length) return;
    const begin = part.remoteBegin + part.received;
    const range = [begin, part.remoteBegin + part.length] as const;
    const open = () => http.open(takesRanges ? { ...request, range } : request, signal);
    let opened = await open();
    if (isPartOfCompressed(opened.response)) {
      opened.close();
      takesRanges = false;
      opened = await open();
    }
    const { response, pieces, close } = opened;
    try {
      checkUnchanged(response, weights);
      if (response.status === 206 && beginOf(response, begin) !== begin) {
        throw downloadFailed(request.url, weights.name, "the server sent the wrong range of bytes");
      }
      // A server that ignores ranges sends the whole file: skip what comes before this part.
      let skip = response.status === 206 ? 0 : begin;
      for await (const piece of pieces()) {
        const skipped = Math.min(skip, piece.length);
        skip -= skipped;
        const bytes = piece.subarray(skipped, skipped + part.length - part.received);
        const isWanted = bytes.length > 0;
        if (isWanted) write(bytes, part.localBegin + part.received);
        part.received += bytes.length;
        releaseBytes(piece);
        if (!isWanted) continue;
        progressed();
        if (part.received === part.length) return;
      }
    } finally {
      close();
    }
    const reason = "the connection ended early. Check the connection and try again; what has arrived is kept";
    throw new TransientFailure(downloadFailed(request.url, weights.name, reason));
  }, signal);
}

function checkUnchanged(response: Response, { etag, remoteSize }: WeightsPlan): void {
  if (response.status === 404 || response.status === 416 || isWebPage(response)) throw new ChangedOnServer();
  const size = sizeOf(response);
  if (size !== null && size !== remoteSize) throw new ChangedOnServer();
  if (etag !== null && response.headers.get("etag") !== etag) throw new ChangedOnServer();
}

/** Returns the first byte's offset in the answer to a range request. */
function beginOf(response: Response, expected: number): number {
  const begin = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
  return begin === undefined ? expected : Number(begin);
}
