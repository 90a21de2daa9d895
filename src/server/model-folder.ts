import { openAsBlob } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

import { CONFIG_FILE, modelFileNames } from "../files/model-folder.ts";
import { UsageError } from "./command-line.ts";

/**
 * Returns the files of a folder from which its model is loaded, unread; null if there is no such folder.
 * @param modelName [the folder's]
 * @throws UsageError if it has no model
 */
export async function openModelFolder(path: string, modelName = basename(resolve(path))): Promise<File[] | null> {
  const folder = resolve(path);
  const stats = await stat(folder).catch(() => null);
  if (!stats) return null;
  if (!stats.isDirectory()) throw new UsageError(`${path} is a file. Give the folder that it is in.`);
  const entries = await readdir(folder, { withFileTypes: true });
  const names = modelFileNames(entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name));
  if (!names.includes(CONFIG_FILE)) throw new UsageError(`The folder ${path} holds no model: it has no config.json.`);
  return Promise.all(
    names.map(async (fileName) => {
      const file = new File([await openBlob(join(folder, fileName))], fileName);
      // The folder's name is the model's.
      return Object.defineProperty(file, "webkitRelativePath", { value: `${modelName}/${fileName}` });
    }),
  );
}

/** @throws UsageError */
async function openBlob(path: string): Promise<Blob> {
  try {
    return await openAsBlob(path);
  } catch (cause) {
    throw new UsageError(`${path} can't be read. Is it a link to a file that is gone?`, { cause });
  }
}
