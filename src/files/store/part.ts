import { sizeOf, versionOf, type HttpClient } from "../hub/http-client.ts";
import type { RemoteFolder } from "../hub/remote-folder.ts";
import { ChangedOnServer, OVERLAP_BYTES, resumableBytes } from "../hub/resumable-bytes.ts";
import { releaseBytes } from "../release-bytes.ts";
import { whyMissing } from "../web-page.ts";
import type { Segment, WeightsPlan } from "./records.ts";

/** Small enough for several in parallel, large enough that requests cost little. */
const PART_BYTES = 8 * 2 ** 20;

export interface Range extends Segment {
  readonly weights: WeightsPlan;
}

/** A range that one request fetches. */
export interface Part extends Range {
  readonly index: number;
  /** Bytes of it received so far. */
  received: number;
}

/** The stored file of a part. */
export interface Stored {
  read(at: number, length: number): Uint8Array;
  write(bytes: Uint8Array, at: number): void;
}

/** Returns the same parts in the same order for the same plan, so that a part's index stays valid after a reload. */
export function partsOf(plans: readonly WeightsPlan[], received: ReadonlyMap<number, number>): Part[] {
  return plans
    .flatMap((weights) => weights.segments.flatMap((segment) => cut({ weights, ...segment })))
    .map((range, index) => ({ ...range, index, received: Math.min(range.length, received.get(index) ?? 0) }));
}

/** Cuts a range into parts; into one if the server takes no ranges, since it would send everything before each part. */
function cut({ weights, remoteBegin, localBegin, length }: Range): Range[] {
  const size = weights.takesRanges ? PART_BYTES : length;
  return Array.from({ length: Math.ceil(length / size) }, (_, i) => ({
    weights,
    remoteBegin: remoteBegin + i * size,
    localBegin: localBegin + i * size,
    length: Math.min(size, length - i * size),
  }));
}

/**
 * Fetches the missing bytes of a part and writes them in order. Resumes when the connection breaks.
 * @throws ChangedOnServer, ChorusError model_download_failed, model_access_denied; the signal's reason
 */
export async function fetchPart(
  http: HttpClient,
  remote: RemoteFolder,
  part: Omit<Part, "index">,
  stored: Stored,
  signal: AbortSignal,
): Promise<void> {
  const { weights, remoteBegin, localBegin, length } = part;
  const request = { ...remote.request(weights.name), range: [remoteBegin, remoteBegin + length] as const };
  const options = {
    at: remoteBegin + part.received,
    isPinned: true,
    known: (begin: number, end: number) => stored.read(localBegin + begin - remoteBegin, end - begin),
    check: (response: Response) => checkUnchanged(response, weights),
  };
  for await (const piece of resumableBytes(http, request, options, signal)) {
    stored.write(piece, localBegin + part.received);
    part.received += piece.length;
    releaseBytes(piece);
  }
}

/**
 * Returns the bytes around each place where a part begins or ends. They show whether parts from different requests belong to
 * one file.
 */
export function seamsOf(weights: WeightsPlan): Range[] {
  return weights.segments.flatMap((segment) => {
    const begins = cut({ weights, ...segment }).map(({ remoteBegin }) => remoteBegin - segment.remoteBegin);
    return [...begins, segment.length].map((at) => {
      const begin = Math.max(0, at - OVERLAP_BYTES);
      return {
        weights,
        remoteBegin: segment.remoteBegin + begin,
        localBegin: segment.localBegin + begin,
        length: Math.min(segment.length, at + OVERLAP_BYTES) - begin,
      };
    });
  });
}

function checkUnchanged(response: Response, { version, remoteSize }: WeightsPlan): void {
  const size = sizeOf(response);
  const isSame = (size ?? remoteSize) === remoteSize && (version === null || versionOf(response) === version);
  if (whyMissing(response) !== null || !isSame) throw new ChangedOnServer();
}
