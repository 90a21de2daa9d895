// Which bytes of a weights file are fetched. Its header comes first, by itself; tensors that the model does not use are
// left out, and the file that is kept then gets a header without them.

import { ChorusError } from "../../protocol/errors.ts";
import { downloadFailed, sizeOf, TransientFailure, type HttpClient } from "../hub/http-client.ts";
import { isWebPage, type RemoteFolder } from "../hub/remote-folder.ts";
import {
  encodeSafetensorsHeader,
  headerEnd,
  parseSafetensorsHeader,
  PREFIX_BYTES,
  type TensorEntry,
} from "../safetensors-header.ts";
import type { Segment, WeightsPlan } from "./records.ts";

/** Of a file's beginning, asked for first. (The header of GPT-2's 148 tensors takes 14 KB.) */
const HEAD_BYTES = 64 * 1024;
/** Less than this is not worth a request of its own to leave it out. */
const SMALLEST_GAP_BYTES = 256 * 1024;

export interface PlannedWeights {
  readonly plan: WeightsPlan;
  /** What the file that is kept begins with; empty where it begins as the remote one. */
  readonly header: Uint8Array<ArrayBuffer>;
}

/**
 * @param isUnused whether the model has no use for a tensor of this name
 * @returns undefined where there is no such file
 * @throws ChorusError model_download_failed, model_access_denied; model_invalid where the header is not sound
 */
export async function planWeights(
  http: HttpClient,
  remote: RemoteFolder,
  file: string,
  isUnused: (tensor: string) => boolean,
  signal?: AbortSignal,
): Promise<PlannedWeights | undefined> {
  const listed = remote.files?.get(file);
  if (remote.files && !listed) return undefined;
  const head = await http.withRetries(() => readHead(http, remote, file, signal), signal);
  if (!head) return undefined;
  const size = listed?.size ?? head.size;
  if (listed && head.size !== null && head.size !== listed.size) {
    const { url } = remote.request(file);
    throw downloadFailed(url, file, `the server has ${head.size} bytes of it, where the hub lists ${listed.size}`);
  }
  const { entries, dataBegin, fileBytes: remoteSize } = parseSafetensorsHeader(head.bytes, size, file);
  const kept = head.takesRanges ? withoutGaps(entries, isUnused) : [...entries];
  const etag = remote.commit === null ? head.etag : null;
  if (kept.length === entries.length) {
    const segments = [{ remoteBegin: 0, localBegin: 0, length: remoteSize }];
    const sha256 = listed?.sha256 ?? null;
    return { plan: { name: file, size: remoteSize, remoteSize, etag, sha256, segments }, header: new Uint8Array() };
  }
  const { header, size: keptSize, segments } = compact(kept, dataBegin);
  return { plan: { name: file, size: keptSize, remoteSize, etag, sha256: null, segments }, header };
}

interface Head {
  /** The file's beginning, with all of the header. */
  readonly bytes: Uint8Array;
  /** The whole file's size; null where the server does not say. */
  readonly size: number | null;
  readonly etag: string | null;
  readonly takesRanges: boolean;
}

async function readHead(
  http: HttpClient,
  remote: RemoteFolder,
  file: string,
  signal: AbortSignal | undefined,
  wantedBytes = HEAD_BYTES,
): Promise<Head | undefined> {
  const request = remote.request(file);
  const { response, pieces, close } = await http.open({ ...request, range: [0, wantedBytes] }, signal);
  if (response.status === 404 || response.status === 416 || isWebPage(response)) {
    close();
    if (response.status !== 416) return undefined;
    throw new ChorusError("model_invalid", `${request.url} is empty.`, file);
  }
  const size = sizeOf(response);
  const buffer = new Uint8Array(wantedBytes);
  let length = 0;
  let bytes = buffer;
  for await (const piece of pieces()) {
    if (length + piece.length > bytes.length) {
      const larger = new Uint8Array(Math.max(2 * bytes.length, length + piece.length));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    bytes.set(piece, length);
    length += piece.length;
    // Of a server that sends all of it, as much as is needed.
    if (length >= PREFIX_BYTES && length >= headerEnd(bytes.subarray(0, length), size, file)) break;
  }
  bytes = bytes.subarray(0, length);
  const end = headerEnd(bytes, size, file);
  const takesRanges = response.status === 206;
  if (length < end) {
    if (takesRanges && length >= wantedBytes && wantedBytes < end) return readHead(http, remote, file, signal, end);
    throw new TransientFailure(downloadFailed(request.url, file, "the connection ended early"));
  }
  return { bytes, size, etag: response.headers.get("etag"), takesRanges };
}

/** Without what is unused, but for what lies in between and is too small to be worth it. */
function withoutGaps(entries: readonly TensorEntry[], isUnused: (tensor: string) => boolean): TensorEntry[] {
  return entries.filter(({ name, begin, end }) => end - begin < SMALLEST_GAP_BYTES || !isUnused(name));
}

function compact(
  kept: readonly TensorEntry[],
  dataBegin: number,
): { header: Uint8Array<ArrayBuffer>; size: number; segments: Segment[] } {
  const inOrder = kept.toSorted((a, b) => a.begin - b.begin || a.end - b.end);
  const header = encodeSafetensorsHeader(inOrder);
  const segments: Segment[] = [];
  let localBegin = header.length;
  for (const { begin, end } of inOrder) {
    const last = segments.at(-1);
    const remoteBegin = dataBegin + begin;
    const length = end - begin;
    if (last && last.remoteBegin + last.length === remoteBegin) {
      segments[segments.length - 1] = { ...last, length: last.length + length };
    } else {
      segments.push({ remoteBegin, localBegin, length });
    }
    localBegin += length;
  }
  return { header, size: localBegin, segments };
}
