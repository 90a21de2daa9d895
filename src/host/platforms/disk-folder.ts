// A model's folder on this machine's disk, where the engine runs in Node.

import { ChorusError } from "../../protocol/errors.ts";
import { chooseGguf, isGguf } from "../../files/gguf/gguf-names.ts";
import { CONFIG_FILE, modelFileNames } from "../../files/model-folder.ts";

/**
 * Returns the files from which a model is loaded, unread; null if there is no such folder or GGUF file.
 * @param folder a path of a folder or a GGUF file, or a URL of file:
 * @param modelName [the folder's]
 * @throws ChorusError model_not_found if it has no model, or if a URL names no folder
 */
export async function openDiskFolder(folder: string, modelName?: string): Promise<File[] | null> {
  // Not imported: bundlers for browsers would have to find them.
  const fs = process.getBuiltinModule("node:fs/promises");
  const paths = process.getBuiltinModule("node:path");
  const isUrl = /^file:/i.test(folder);
  const path = paths.resolve(isUrl ? process.getBuiltinModule("node:url").fileURLToPath(folder) : folder);
  const stats = await fs.stat(path).catch(() => null);
  if (!stats && isUrl) throw notFound(`There is no folder ${path}.`);
  if (!stats) return null;
  const isFile = !stats.isDirectory();
  if (isFile && !isGguf(path)) throw notFound(`${folder} is a file. Give the folder that it is in.`);
  const parent = isFile ? paths.dirname(path) : path;
  const entries = (await fs.readdir(parent, { withFileTypes: true })).filter((entry) => !entry.isDirectory());
  const statsOf = async ({ name }: { readonly name: string }) =>
    [name, await fs.stat(paths.join(parent, name)).catch(() => ({ size: 0 }))] as const;
  const sizes = new Map(await Promise.all(entries.map(statsOf)));
  const gguf = chooseGguf(sizes, isFile ? paths.basename(path) : null, folder);
  const names = modelFileNames([...sizes.keys()], gguf);
  if (gguf === null && !names.includes(CONFIG_FILE))
    throw notFound(`The folder ${folder} holds no model: it has no ${CONFIG_FILE}.`);
  return Promise.all(
    names.map(async (fileName) => {
      const file = new File([await openBlob(paths.join(parent, fileName))], fileName);
      // The folder's name is the model's, and errors name the path.
      const value = `${modelName ?? parent.replaceAll(paths.sep, "/")}/${fileName}`;
      return Object.defineProperty(file, "webkitRelativePath", { value });
    }),
  );
}

/** @throws ChorusError model_not_found */
async function openBlob(path: string): Promise<Blob> {
  try {
    return await process.getBuiltinModule("node:fs").openAsBlob(path);
  } catch (cause) {
    throw notFound(`${path} can't be read. Is it a link to a file that is gone?`, cause);
  }
}

function notFound(message: string, cause?: unknown): ChorusError {
  return new ChorusError("model_not_found", message, "model", { cause });
}
