import { ChorusError } from "../../protocol/errors.ts";
import type { HttpClient } from "../hub/http-client.ts";
import type { RemoteFolder } from "../hub/remote-folder.ts";
import { openRemoteHeaders, readSmallFile } from "../hub/remote-files.ts";
import { partNames } from "../gguf/gguf-names.ts";
import type { ModelFiles } from "../model-files.ts";
import {
  CONFIG_FILE,
  OPTIONAL_FILES,
  parseJsonFile,
  parseShardNames,
  TOKENIZER_FILE,
  VOCAB_AND_MERGES_FILES,
  WEIGHTS_FILE,
  WEIGHTS_INDEX_FILE,
} from "../model-folder.ts";
import { planWeights, planWhole, type PlannedWeights } from "./weights-plan.ts";

/**
 * Checks config.json, so that an unsupported model is refused before its weights are downloaded. The result knows which
 * tensors the model does not use.
 * @throws ChorusError model_invalid, model_unsupported
 */
export type DescribeModel = (config: unknown) => { isUnused(tensor: string): boolean };

/** Returns the config.json that a folder's GGUF file stands for; else as the folder has it. */
export type AsFolder = (files: ModelFiles) => Promise<ModelFiles>;

/**
 * Reads the small files and the weights' headers. An incomplete or unsupported model is refused before its weights are
 * downloaded.
 * @throws ChorusError model_not_found, model_invalid, model_unsupported, model_access_denied, model_download_failed
 */
export async function planModel(
  http: HttpClient,
  remote: RemoteFolder,
  describe: DescribeModel,
  asFolder: AsFolder,
  signal?: AbortSignal,
) {
  const smallFiles = new Map<string, Uint8Array<ArrayBuffer>>();
  const read = async (file: string): Promise<Uint8Array<ArrayBuffer> | undefined> => {
    const bytes = await readSmallFile(http, remote, file, { signal });
    if ("missing" in bytes) return undefined;
    smallFiles.set(file, bytes);
    return bytes;
  };
  if (remote.gguf !== null) {
    const config = await (await asFolder(openRemoteHeaders(remote, http, signal))).readJson(CONFIG_FILE);
    describe(config);
    if (await read(TOKENIZER_FILE)) await Promise.all(OPTIONAL_FILES.map(read));
    const weights = partNames(remote.gguf).map((part) => planWhole(http, remote, part, signal));
    return { config, smallFiles, weights: await Promise.all(weights) };
  }
  const configBytes = await read(CONFIG_FILE);
  if (!configBytes) throw notFound(remote, CONFIG_FILE, "");
  const config = parseJsonFile(CONFIG_FILE, remote.where, configBytes);
  const model = describe(config);

  await Promise.all([readTokenizer(remote, read), ...OPTIONAL_FILES.map(read)]);

  const plan = (file: string) => planWeights(http, remote, file, (tensor) => model.isUnused(tensor), signal);
  const single = await plan(WEIGHTS_FILE);
  if (single) return { config, smallFiles, weights: [single] };
  const indexBytes = await read(WEIGHTS_INDEX_FILE);
  if (!indexBytes) throw notFound(remote, WEIGHTS_FILE, "");
  const weights: PlannedWeights[] = [];
  for (const shard of parseShardNames(parseJsonFile(WEIGHTS_INDEX_FILE, remote.where, indexBytes))) {
    const planned = await plan(shard);
    if (!planned) throw notFound(remote, shard, ` ${WEIGHTS_INDEX_FILE} names it.`);
    weights.push(planned);
  }
  return { config, smallFiles, weights };
}

async function readTokenizer(remote: RemoteFolder, read: (file: string) => Promise<Uint8Array | undefined>) {
  if (await read(TOKENIZER_FILE)) return;
  const pair = await Promise.all(VOCAB_AND_MERGES_FILES.map(read));
  if (!pair.every(Boolean))
    throw notFound(remote, TOKENIZER_FILE, ` Nor is there a ${VOCAB_AND_MERGES_FILES.join(" with a ")}.`);
}

function notFound(remote: RemoteFolder, file: string, more: string): ChorusError {
  return new ChorusError("model_not_found", `There is no ${file} in ${remote.where}.${more}`, file);
}
