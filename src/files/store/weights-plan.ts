// Plans which bytes of a weights file to fetch. The header is fetched first. Tensors that the model does not use are left
// out, and the stored file gets a header without them.

import { ChorusError } from "../../protocol/errors.ts";
import { downloadFailed, type HttpClient } from "../hub/http-client.ts";
import type { RemoteFolder } from "../hub/remote-folder.ts";
import {
  encodeSafetensorsHeader,
  headerEnd,
  parseSafetensorsHeader,
  PREFIX_BYTES,
  type TensorEntry,
} from "../safetensors-header.ts";
import { RangedFile } from "../hub/ranged-file.ts";
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
  const head = await openBeginning(http, remote, file, HEAD_BYTES, signal);
  if (!head) return undefined;
  const size = listed?.size ?? head.size;
  const read = async (end: number) => new Uint8Array(await head.slice(0, end).arrayBuffer());
  const bytes = await read(headerEnd(await read(PREFIX_BYTES), size, file));
  const { entries, dataBegin, fileBytes: remoteSize } = parseSafetensorsHeader(bytes, size, file);
  const kept = head.takesRanges ? withoutGaps(entries, isUnused) : [...entries];
  const whole = wholeFile(remote, file, head, remoteSize);
  if (kept.length === entries.length) return whole;
  const { header, size: keptSize, segments } = compact(kept, dataBegin);
  return { plan: { ...whole.plan, size: keptSize, sha256: null, segments }, header };
}

/** Plans to fetch a whole file. @throws ChorusError model_not_found, model_download_failed, model_access_denied */
export async function planWhole(
  http: HttpClient,
  remote: RemoteFolder,
  file: string,
  signal?: AbortSignal,
): Promise<PlannedWeights> {
  const opened = await openBeginning(http, remote, file, 0, signal);
  if (!opened) throw new ChorusError("model_not_found", `There is no ${remote.request(file).url}.`, file);
  const size = remote.files?.get(file)?.size ?? opened.size;
  if (size === null) throw downloadFailed(remote.request(file).url, file, "the server doesn't say how large it is");
  return wholeFile(remote, file, opened, size);
}

function wholeFile(remote: RemoteFolder, file: string, { version, takesRanges }: RangedFile, size: number) {
  const plan: WeightsPlan = {
    name: file,
    size,
    remoteSize: size,
    version: remote.commit === null ? version : null,
    takesRanges,
    sha256: remote.files?.get(file)?.sha256 ?? null,
    segments: [{ remoteBegin: 0, localBegin: 0, length: size }],
  };
  return { plan, header: new Uint8Array() };
}

/** Opens a file of which the beginning is to be read; undefined if it does not exist. */
async function openBeginning(
  http: HttpClient,
  remote: RemoteFolder,
  file: string,
  firstBytes: number,
  signal: AbortSignal | undefined,
): Promise<RangedFile | undefined> {
  const listed = remote.files?.get(file);
  const request = remote.request(file);
  const opened = await RangedFile.open(http, request, { firstBytes, signal });
  if ("missing" in opened) {
    if (!listed) return undefined;
    throw downloadFailed(request.url, file, `${opened.why}, though the hub lists the file`);
  }
  if (opened.size === 0) throw new ChorusError("model_invalid", `${request.url} is empty.`, file);
  if (!listed || opened.size === null || opened.size === listed.size) return opened;
  const sizes = `the server has ${opened.size} bytes of it, but the hub lists ${listed.size}`;
  throw downloadFailed(request.url, file, sizes);
}

/** Drops the unused tensors, except small ones. */
function withoutGaps(entries: readonly TensorEntry[], isUnused: (tensor: string) => boolean): TensorEntry[] {
  return entries.filter(({ name, begin, end }) => end - begin < SMALLEST_GAP_BYTES || !isUnused(name));
}

function compact(kept: readonly TensorEntry[], dataBegin: number) {
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
