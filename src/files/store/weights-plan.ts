// Plans which bytes of a weights file to fetch. The header is fetched first. Tensors that the model does not use are left
// out, and the stored file gets a header without them.

import { ChorusError } from "../../protocol/errors.ts";
import {
  downloadFailed,
  isPartOfCompressed,
  sizeOf,
  TransientFailure,
  versionOf,
  type HttpClient,
} from "../hub/http-client.ts";
import type { RemoteFolder } from "../hub/remote-folder.ts";
import {
  encodeSafetensorsHeader,
  headerEnd,
  parseSafetensorsHeader,
  PREFIX_BYTES,
  type TensorEntry,
} from "../safetensors-header.ts";
import { RangedFile } from "../hub/ranged-file.ts";
import { whyMissing } from "../web-page.ts";
import type { Segment, WeightsPlan } from "./records.ts";

/** Bytes headRequest first. (The header of GPT-2's 148 tensors takes 14 KB.) */
const HEAD_BYTES = 64 * 1024;
/** A smaller unused tensor is fetched too: skipping it would cost another request. */
const SMALLEST_GAP_BYTES = 256 * 1024;

export interface PlannedWeights {
  readonly plan: WeightsPlan;
  /** The stored file's header if it differs from the remote one; else empty. */
  readonly header: Uint8Array<ArrayBuffer>;
}

/**
 * @param isUnused returns whether the model ignores a tensor of this name
 * @returns undefined if the file does not exist
 * @throws ChorusError model_download_failed, model_access_denied; model_invalid for an invalid header
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
    throw downloadFailed(url, file, `the server has ${head.size} bytes of it, but the hub lists ${listed.size}`);
  }
  const { entries, dataBegin, fileBytes: remoteSize } = parseSafetensorsHeader(head.bytes, size, file);
  const kept = head.takesRanges ? withoutGaps(entries, isUnused) : [...entries];
  const version = remote.commit === null ? head.version : null;
  const { takesRanges } = head;
  if (kept.length === entries.length) {
    const segments = [{ remoteBegin: 0, localBegin: 0, length: remoteSize }];
    const sha256 = listed?.sha256 ?? null;
    const plan = { name: file, size: remoteSize, remoteSize, version, takesRanges, sha256, segments };
    return { plan, header: new Uint8Array() };
  }
  const { header, size: keptSize, segments } = compact(kept, dataBegin);
  return { plan: { name: file, size: keptSize, remoteSize, version, takesRanges, sha256: null, segments }, header };
}

/** Plans to fetch a whole file. @throws ChorusError model_not_found, model_download_failed, model_access_denied */
export async function planWhole(
  http: HttpClient,
  remote: RemoteFolder,
  file: string,
  signal?: AbortSignal,
): Promise<PlannedWeights> {
  const opened = await RangedFile.open(http, remote.request(file), signal);
  if ("missing" in opened) throw new ChorusError("model_not_found", opened.missing, file);
  const listed = remote.files?.get(file);
  const size = listed?.size ?? opened.size;
  if (size === null) throw downloadFailed(remote.request(file).url, file, "the server doesn't say how large it is");
  const segments = [{ remoteBegin: 0, localBegin: 0, length: size }];
  const version = remote.commit === null ? opened.version : null;
  const { takesRanges } = opened;
  const plan = { name: file, size, remoteSize: size, version, takesRanges, sha256: listed?.sha256 ?? null, segments };
  return { plan, header: new Uint8Array() };
}

interface Head {
  /** The file's beginning, with the whole header. */
  readonly bytes: Uint8Array;
  /** The whole file's size; null if the server does not give it. */
  readonly size: number | null;
  readonly version: string | null;
  readonly takesRanges: boolean;
}

async function readHead(
  http: HttpClient,
  remote: RemoteFolder,
  file: string,
  signal: AbortSignal | undefined,
  requestedBytes: number | null = HEAD_BYTES,
): Promise<Head | undefined> {
  const request = remote.request(file);
  const headRequest = requestedBytes === null ? request : { ...request, range: [0, requestedBytes] as const };
  const { response, pieces, close } = await http.open(headRequest, signal);
  if (isPartOfCompressed(response)) {
    close();
    return readHead(http, remote, file, signal, null);
  }
  const why = whyMissing(response);
  if (why !== null) {
    close();
    if (!remote.files) return undefined;
    throw downloadFailed(request.url, file, `${why}, though the hub lists the file`);
  }
  const size = sizeOf(response);
  const buffer = new Uint8Array(requestedBytes ?? HEAD_BYTES);
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
    // A server that ignores ranges sends the whole file: stop after the header.
    if (length >= PREFIX_BYTES && length >= headerEnd(bytes.subarray(0, length), size, file)) break;
  }
  if (length === 0 && !size) throw new ChorusError("model_invalid", `${request.url} is empty.`, file);
  bytes = bytes.subarray(0, length);
  const end = headerEnd(bytes, size, file);
  const takesRanges = response.status === 206;
  if (length < end) {
    if (takesRanges && requestedBytes !== null && length >= requestedBytes && requestedBytes < end)
      return readHead(http, remote, file, signal, end);
    throw new TransientFailure(downloadFailed(request.url, file, "the connection ended early"));
  }
  return { bytes, size, version: versionOf(response), takesRanges };
}

/** Drops the unused tensors, except small ones. */
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
