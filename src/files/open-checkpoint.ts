import type { Checkpoint } from "./checkpoint.ts";
import { invalidFile } from "./json-fields.ts";
import { MlxCheckpoint } from "./mlx-checkpoint.ts";
import { mlxPacking } from "./mlx.ts";
import type { ModelFiles } from "./model-files.ts";
import { parseShardNames, WEIGHTS_FILE, WEIGHTS_INDEX_FILE } from "./model-folder.ts";
import { encodeSafetensorsHeader, headerEnd, parseSafetensorsHeader, PREFIX_BYTES } from "./safetensors-header.ts";
import { openSafetensors, type SafetensorsFile } from "./safetensors.ts";

/**
 * Opens a model's weights: safetensors in one file or in shards, or GGUF. Reads only their headers.
 * @param config config.json, which says how MLX's weights are packed
 * @param isEarly whether a single file may still be arriving: then reading its tensors throws its download's error
 * @throws ChorusError model_not_found, model_invalid, model_download_failed, with the file's name
 */
export async function openCheckpoint(
  files: ModelFiles,
  { isEarly = false, config = null }: { readonly isEarly?: boolean; readonly config?: unknown } = {},
): Promise<Checkpoint> {
  const own = files.openOwnCheckpoint();
  if (own !== null) return own;
  const safetensors = await openAnySafetensors(files, isEarly);
  const packing = mlxPacking(config);
  if (packing === null) return safetensors;
  return new MlxCheckpoint(safetensors, packing);
}

async function openAnySafetensors(files: ModelFiles, isEarly: boolean): Promise<SafetensorsFile> {
  const single = await (isEarly ? files.tryOpenEarly(WEIGHTS_FILE) : files.tryOpen(WEIGHTS_FILE));
  if (single) return openSafetensors(single, WEIGHTS_FILE);
  const index = await files.tryReadJson(WEIGHTS_INDEX_FILE);
  if (index === undefined) await files.open(WEIGHTS_FILE); // throws model_not_found with the place
  const shards = new Map<string, Blob>();
  for (const name of parseShardNames(index)) shards.set(name, await files.open(name));
  return openSafetensors(await joinShards(shards), WEIGHTS_INDEX_FILE);
}

/** Joins shards into one file. Blobs are joined without being read. */
async function joinShards(shards: ReadonlyMap<string, Blob>): Promise<Blob> {
  const shardOf = new Map<string, string>();
  const data: Blob[] = [];
  const entries = [];
  for (const [file, blob] of shards) {
    const head = async (bytes: number) => new Uint8Array(await blob.slice(0, bytes).arrayBuffer());
    const bytes = await head(headerEnd(await head(PREFIX_BYTES), blob.size, file));
    const header = parseSafetensorsHeader(bytes, blob.size, file);
    for (const { name } of header.entries) {
      const other = shardOf.get(name);
      if (other !== undefined) throw invalidFile(file, `Tensor "${name}" is in ${other} and in ${file}.`);
      shardOf.set(name, file);
    }
    entries.push(...header.entries.toSorted((a, b) => a.begin - b.begin || a.end - b.end));
    data.push(blob.slice(header.dataBegin));
  }
  return new Blob([encodeSafetensorsHeader(entries), ...data]);
}
