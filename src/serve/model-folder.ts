import { openAsBlob } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";

import { UsageError } from "./command-line.ts";

/**
 * Returns a folder's files, unread; null where there is no such folder.
 * @param modelName [the folder's]
 * @throws UsageError where it holds no model
 */
export async function openModelFolder(path: string, modelName = basename(resolve(path))): Promise<File[] | null> {
  const folder = resolve(path);
  const stats = await stat(folder).catch(() => null);
  if (!stats) return null;
  if (!stats.isDirectory()) throw new UsageError(`${path} is a file. Give the folder that it is in.`);
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => name);
  if (!names.includes("config.json")) throw new UsageError(`The folder ${path} holds no model: it has no config.json.`);
  return Promise.all(
    names.map(async (fileName) => {
      const file = new File([await openAsBlob(join(folder, fileName))], fileName);
      // The folder's name is the model's.
      return Object.defineProperty(file, "webkitRelativePath", { value: `${modelName}/${fileName}` });
    }),
  );
}
