import { releaseBytes } from "../release-bytes.ts";
import {
  downloadFailed,
  isPartOfCompressed,
  sizeOf,
  TransientFailure,
  versionOf,
  type HttpClient,
} from "../hub/http-client.ts";
import type { RemoteFolder } from "../hub/remote-folder.ts";
import { whyMissing } from "../web-page.ts";
import type { WeightsPlan } from "./records.ts";

/** Small enough for several in parallel, large enough that requests cost little. */
const PART_BYTES = 8 * 2 ** 20;

/** Bytes before it that are asked for with each part, and after each break: they must be those that are stored. */
const OVERLAP_BYTES = 4096;

/** A range of a weights file that one request fetches. */
export interface Part {
  readonly index: number;
  readonly weights: WeightsPlan;
  readonly remoteBegin: number;
  readonly localBegin: number;
  readonly length: number;
  /** The part that ends where this one begins; null at the beginning of a segment. */
  readonly previous: Part | null;
  /** Bytes of it received so far. */
  received: number;
  /** The bytes before it, as the server sent them with it, if the part before was not there yet; else null. */
  edge: Uint8Array | null;
  /** False after a pause in which its beginning was there, and the part before it was not: the edge is forgotten. */
  isSeamKnown: boolean;
}

/** The stored file of a part. */
export interface Stored {
  read(at: number, length: number): Uint8Array;
  write(bytes: Uint8Array, at: number): void;
}

/** The server's file is not the one whose download began. */
export class ChangedOnServer extends Error {}

/** Returns the same parts in the same order for the same plan, so that a part's index stays valid after a reload. */
export function partsOf(weights: readonly WeightsPlan[], received: ReadonlyMap<number, number>): Part[] {
  const parts: Part[] = [];
  for (const file of weights) {
    for (const { remoteBegin, localBegin, length } of file.segments) {
      let previous: Part | null = null;
      for (let at = 0; at < length; at += PART_BYTES) {
        const index = parts.length;
        const partLength = Math.min(PART_BYTES, length - at);
        const isAfterGap: boolean = previous !== null && previous.received < previous.length;
        const there: number = Math.min(partLength, received.get(index) ?? 0);
        const part: Part = {
          index,
          weights: file,
          remoteBegin: remoteBegin + at,
          localBegin: localBegin + at,
          length: partLength,
          previous,
          received: there,
          edge: null,
          isSeamKnown: there === 0 || !isAfterGap,
        };
        parts.push(part);
        previous = part;
      }
    }
  }
  return parts;
}

/**
 * Fetches the missing bytes of a part and writes them in order. Resumes when the connection breaks.
 * @throws ChangedOnServer, ChorusError model_download_failed, model_access_denied; the signal's reason
 */
export async function fetchPart(
  http: HttpClient,
  remote: RemoteFolder,
  part: Part,
  stored: Stored,
  signal: AbortSignal,
): Promise<void> {
  const { weights } = part;
  const request = remote.request(weights.name);
  let takesRanges = true;
  await http.withRetries(async (progressed) => {
    if (part.received >= part.length) return;
    const edge = new Uint8Array(Math.min(OVERLAP_BYTES, part.received || (part.previous?.length ?? 0)));
    let known = 0;
    const begin = part.remoteBegin + part.received - edge.length;
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
        const overlap = piece.subarray(skipped, skipped + edge.length - known);
        edge.set(overlap, known);
        known += overlap.length;
        if (overlap.length > 0 && known === edge.length) checkEdge(part, edge, stored);
        const from = skipped + overlap.length;
        const bytes = piece.subarray(from, from + part.length - part.received);
        const isRequested = bytes.length > 0;
        if (isRequested) stored.write(bytes, part.localBegin + part.received);
        part.received += bytes.length;
        releaseBytes(piece);
        if (!isRequested) continue;
        progressed();
        if (part.received === part.length) return;
      }
    } finally {
      close();
    }
    const reason = "the connection ended early. Check the connection and try again";
    throw new TransientFailure(downloadFailed(request.url, weights.name, reason));
  }, signal);
}

/** Compares bytes before the next missing one with those that are stored, or keeps them until these are there. */
function checkEdge(part: Part, edge: Uint8Array, stored: Stored): void {
  const { previous, received, localBegin } = part;
  if (received === 0 && previous !== null && previous.received < previous.length) part.edge = edge;
  else checkSame(edge, stored, localBegin + received - edge.length);
}

/** Compares the edge that waited for a part which is complete now. @throws ChangedOnServer */
export function checkNextEdge(parts: readonly Part[], complete: Part, stored: Stored): void {
  const next = parts[complete.index + 1];
  if (next?.previous === complete && next.edge) checkSame(next.edge, stored, next.localBegin - next.edge.length);
}

/** @throws ChangedOnServer */
function checkSame(bytes: Uint8Array, stored: Stored, at: number): void {
  const there = stored.read(at, bytes.length);
  if (!bytes.every((byte, i) => byte === there[i])) throw new ChangedOnServer();
}

/**
 * Asks for the bytes on both sides of a part's beginning once more, and compares them with what is stored.
 * @throws ChangedOnServer, ChorusError model_download_failed, model_access_denied; the signal's reason
 */
export async function checkSeam(
  http: HttpClient,
  remote: RemoteFolder,
  part: Part,
  stored: Stored,
  signal: AbortSignal,
): Promise<void> {
  const before = Math.min(OVERLAP_BYTES, part.previous?.length ?? 0);
  const begin = part.remoteBegin - before;
  const end = part.remoteBegin + Math.min(OVERLAP_BYTES, part.received);
  const bytes = await askAgain(http, remote, part.weights, [begin, end], signal);
  if (bytes !== null) {
    checkSame(bytes.subarray(before), stored, part.localBegin);
    const edge = bytes.slice(0, before);
    if (part.previous !== null && part.previous.received < part.previous.length) part.edge = edge;
    else checkSame(edge, stored, part.localBegin - before);
  }
  part.isSeamKnown = true;
}

/**
 * Asks for the end of a weights file once more, and compares it with what is stored.
 * @throws ChangedOnServer, ChorusError model_download_failed, model_access_denied; the signal's reason
 */
export async function checkEnd(
  http: HttpClient,
  remote: RemoteFolder,
  weights: WeightsPlan,
  stored: Stored,
  signal: AbortSignal,
): Promise<void> {
  const last = weights.segments.at(-1);
  if (last === undefined) return;
  const length = Math.min(OVERLAP_BYTES, last.length);
  const end = last.remoteBegin + last.length;
  const bytes = await askAgain(http, remote, weights, [end - length, end], signal);
  if (bytes !== null) checkSame(bytes, stored, last.localBegin + last.length - length);
}

/** Returns a range of a weights file; null from a server that would send the whole file, or less. */
async function askAgain(
  http: HttpClient,
  remote: RemoteFolder,
  weights: WeightsPlan,
  range: readonly [begin: number, end: number],
  signal: AbortSignal,
): Promise<Uint8Array | null> {
  const bytes = new Uint8Array(range[1] - range[0]);
  let length = 0;
  await http.withRetries(async () => {
    length = 0;
    const { response, pieces, close } = await http.open({ ...remote.request(weights.name), range }, signal);
    try {
      if (isPartOfCompressed(response)) return;
      checkUnchanged(response, weights);
      if (response.status !== 206) return;
      for await (const piece of pieces()) {
        const requested = piece.subarray(0, bytes.length - length);
        bytes.set(requested, length);
        length += requested.length;
      }
    } finally {
      close();
    }
  }, signal);
  return length === bytes.length ? bytes : null;
}

function checkUnchanged(response: Response, { version, remoteSize }: WeightsPlan): void {
  if (whyMissing(response) !== null) throw new ChangedOnServer();
  const size = sizeOf(response);
  if (size !== null && size !== remoteSize) throw new ChangedOnServer();
  if (version !== null && versionOf(response) !== version) throw new ChangedOnServer();
}

/** Returns the first byte's offset in the answer to a range request. */
function beginOf(response: Response, expected: number): number {
  const begin = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "")?.[1];
  return begin === undefined ? expected : Number(begin);
}
